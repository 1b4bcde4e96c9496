"""Sentences that follow a simple grammar, and their translations, for tests of translation."""

from explorer.training.config import TrainingConfig

_WHO = {"I": "je", "you": "tu", "we": "nous", "they": "ils", "the cat": "le chat"}
_SEE = {"see": "vois", "want": "veux", "like": "aime", "hear": "entends"}
_WHAT = {"a dog": "un chien", "the red house": "la maison rouge", "water": "de l'eau"}
_WHEN = {"today": "aujourd'hui", "now": "maintenant", "often": "souvent", "here": "ici"}

SENTENCES = [
    (f"{who.capitalize()} {see} {what} {when}.", f"{qui.capitalize()} {voir} {quoi} {quand}.")
    for who, qui in _WHO.items()
    for see, voir in _SEE.items()
    for what, quoi in _WHAT.items()
    for when, quand in _WHEN.items()
]

TINY_PAIRS = TrainingConfig(
    pairs="pairs.tsv",
    longest=32,
    pieces=400,
    joined=0.2,
    d_model=32,
    heads=2,
    encoder_layers=1,
    decoder_layers=1,
    d_ff=64,
    dropout=0.0,
    steps=300,
    batch=16,
    rate=5e-3,
    warmup=20,
    evaluate_every=150,
    device="cpu",
)

TINY_TEXTS = TrainingConfig(
    texts="texts.txt",
    columns=("1",),
    longest=32,
    pieces=350,
    d_model=32,
    heads=2,
    encoder_layers=0,
    decoder_layers=2,
    d_ff=64,
    dropout=0.0,
    steps=150,
    batch_tokens=400,
    rate=5e-3,
    warmup=20,
    evaluate_every=150,
    device="cpu",
)


def as_table() -> str:
    return "".join(f"{source}\t{target}\n" for source, target in SENTENCES)


def as_chinese_table() -> str:
    """The same English sentences with Chinese ones beside them."""
    who = dict(zip(_WHO, ("我", "你", "我们", "他们", "猫"), strict=True))
    see = dict(zip(_SEE, ("看见", "想要", "喜欢", "听见"), strict=True))
    what = dict(zip(_WHAT, ("一只狗", "红色的房子", "水"), strict=True))
    when = dict(zip(_WHEN, ("今天", "现在", "常常", "在这里"), strict=True))
    return "".join(
        f"{a.capitalize()} {b} {c} {d}.\t{who[a]}{when[d]}{see[b]}{what[c]}。\n"
        for a in who
        for b in see
        for c in what
        for d in when
    )
