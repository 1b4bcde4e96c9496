import pytest
from tokenizers import Tokenizer, models
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from explorer.core.errors import ConfigError
from explorer.core.vocabulary import LONGEST_TEXT
from explorer.heads.removal.counterfactuals import compare_traces
from explorer.model.huggingface.chat_template import chat_text, has_template
from explorer.model.huggingface.opening.loading import open_directory
from tests.support.model_directories import bart, gpt2

TURNS = (
    "{% for message in messages %}<|endoftext|>{{ message['role'] }}: {{ message['content'] }}\n"
    "{% endfor %}{% if add_generation_prompt %}{{ eos_token }}assistant:{% endif %}"
)
STRICT = "{% if messages[0].role != 'user' %}{{ raise_exception('begin with user') }}{% endif %}x"
HELLO = [{"role": "user", "content": "the cat"}]
WITH_SYSTEM = [{"role": "system", "content": "Be kind. 猫"}, *HELLO]


def templated(template):
    """A tokenizer with a chat template."""
    own = Tokenizer(models.WordLevel({"</s>": 0}))
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=own, eos_token="</s>")
    tokenizer.chat_template = template
    return tokenizer


def with_template(make, folder, template=TURNS):
    """A model directory whose tokenizer has a chat template."""
    path = make(folder)
    tokenizer = AutoTokenizer.from_pretrained(path)
    tokenizer.chat_template = template
    tokenizer.save_pretrained(path)
    return open_directory(path)


@pytest.mark.parametrize("make", [gpt2, bart])
@pytest.mark.parametrize("messages", [HELLO, WITH_SYSTEM])
def test_messages_are_the_tokens_that_the_library_makes_of_them(make, messages, tmp_path):
    model = with_template(make, tmp_path / "model")
    trace = model.trace(messages=messages, max_new_tokens=3)
    tokenizer = model.tokens.tokenizer
    ids = tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_tensors="pt")
    ids = ids["input_ids"][0].tolist()
    assert list(model.read(messages=messages).ids) == ids
    read = trace.source_tokens or trace.target_tokens[: trace.facts["prompt"]]
    assert len(read) == len(ids)
    assert read.count("<|endoftext|>") == len(messages) + 1
    assert trace.facts["messages"] == messages
    text = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
    assert trace.facts["text"] == text


def test_what_a_head_changes_in_a_chat_is_compared_with_the_same_chat(tmp_path):
    model = with_template(gpt2, tmp_path / "model")
    one = model.trace(messages=HELLO, max_new_tokens=3)
    other = model.trace(messages=HELLO, max_new_tokens=3, ablate=[("decoder", 0, 1)])
    forced = compare_traces(model, one, other).forced
    assert forced.target_tokens == one.target_tokens


@pytest.mark.parametrize(
    ("messages", "key"),
    [
        ([], "bad_messages"),
        ("Hello", "bad_messages"),
        ({"role": "user", "content": "x"}, "bad_messages"),
        (["Hello"], "bad_messages"),
        ([{"role": "user"}], "bad_messages"),
        ([{"role": "user", "content": 3}], "bad_messages"),
        ([{"role": "user", "content": ["x"]}], "bad_messages"),
        ([{"role": "user", "content": "x" * LONGEST_TEXT}], "long_chat"),
        ([{"role": "", "content": ""}] * (LONGEST_TEXT + 1), "long_chat"),
        (WITH_SYSTEM, "template_refuses"),
    ],
)
def test_messages_that_are_none_or_that_the_template_refuses_get_a_sentence(messages, key):
    assert chat_text(templated(STRICT), HELLO) == "x"
    with pytest.raises(ConfigError) as error:
        chat_text(templated(STRICT), messages)
    assert error.value.key == key
    if key == "template_refuses":
        assert "begin with user" in str(error.value)


@pytest.mark.parametrize(
    ("template", "key"),
    [
        (None, "no_chat_template"),
        ("", "no_chat_template"),
        ({"tool_use": "x"}, "no_chat_template"),
        ("{% for", "template_refuses"),
        ("{{ nothing.at.all }}", "template_refuses"),
        ("{{ ''.__class__.__mro__ }}", "template_refuses"),
        ("{{ 'x' * 30000 }}", "long_chat"),
    ],
    ids=range(7),
)
def test_a_template_that_fails_gets_a_sentence(template, key):
    with pytest.raises(ConfigError) as error:
        chat_text(templated(template), HELLO)
    assert error.value.key == key


def test_of_several_templates_the_default_one_is_used():
    several = templated({"default": "a", "tool_use": "b"})
    assert has_template(several)
    assert chat_text(several, HELLO) == "a"


def test_a_model_without_a_template_or_a_tokenizer_takes_no_messages(tmp_path, opened):
    for model in (open_directory(gpt2(tmp_path / "model")), opened("t5")):
        with pytest.raises(ConfigError, match="no chat template"):
            model.trace(messages=HELLO)
        with pytest.raises(ConfigError, match="either a text"):
            model.trace("the cat", messages=HELLO)
        with pytest.raises(ConfigError, match="either a text"):
            model.trace()
