"""Three Transformers as tutorials describe them, with the names of their weights and arithmetic of
its own: nothing here is the package's, so that both can be compared."""

import math

import torch
from torch import Tensor, nn


def mixed(query: Tensor, key: Tensor, value: Tensor, heads: int, mask: Tensor) -> Tensor:
    """Attention over projected (B, L, D); mask: 0 = may not attend, (B or 1, 1 or T, S)."""
    width = query.size(-1) // heads
    parts = []
    for head in range(heads):
        own = slice(head * width, (head + 1) * width)
        scores = torch.einsum("btk,bsk->bts", query[..., own], key[..., own]) / math.sqrt(width)
        weights = scores.masked_fill(mask == 0, -1e9).softmax(-1)
        parts.append(torch.einsum("bts,bsk->btk", weights, value[..., own]))
    return torch.cat(parts, -1)


def positions(length: int, width: int) -> Tensor:
    """(1, length, width), by the formula of the paper, one number at a time."""
    table = torch.zeros(1, length, width)
    for place in range(length):
        for pair in range(0, width, 2):
            angle = place / 10000 ** (pair / width)
            table[0, place, pair] = math.sin(angle)
            table[0, place, pair + 1] = math.cos(angle)
    return table


def causal(length: int) -> Tensor:
    return torch.ones(1, length, length).tril()


class Part(nn.Module):
    """A module with the given modules, parameters and buffers, which computes nothing."""

    def __init__(self, **parts: nn.Module | Tensor) -> None:
        super().__init__()
        for name, part in parts.items():
            if isinstance(part, nn.Parameter | nn.Module):
                setattr(self, name, part)
            else:
                self.register_buffer(name, part)


class Annotated(nn.Module):
    """The Annotated Transformer: pre-norm with a norm of its own, embeddings times √D."""

    scaled, pad = True, 2

    def __init__(self, source: int, target: int, width: int, heads: int, hidden: int) -> None:
        super().__init__()
        self.heads, self.width = heads, width

        def norm() -> Part:
            return Part(a_2=nn.Parameter(torch.ones(width)), b_2=nn.Parameter(torch.zeros(width)))

        def attention() -> Part:
            return Part(linears=nn.ModuleList(nn.Linear(width, width) for _ in range(4)))

        def layer(names: tuple[str, ...]) -> Part:
            return Part(
                **{name: attention() for name in names},
                feed_forward=Part(w_1=nn.Linear(width, hidden), w_2=nn.Linear(hidden, width)),
                sublayer=nn.ModuleList(Part(norm=norm()) for _ in range(len(names) + 1)),
            )

        def embedding(size: int) -> nn.Sequential:
            table = Part(lut=nn.Embedding(size, width))
            return nn.Sequential(table, Part(pe=positions(40, width)))

        layers = nn.ModuleList(layer(("self_attn",)) for _ in range(2))
        self.encoder = Part(layers=layers, norm=norm())
        layers = nn.ModuleList(layer(("self_attn", "src_attn")) for _ in range(3))
        self.decoder = Part(layers=layers, norm=norm())
        self.src_embed, self.tgt_embed = embedding(source), embedding(target)
        self.generator = Part(proj=nn.Linear(width, target))

    def normed(self, x: Tensor, part: Part) -> Tensor:
        deviation = ((x - x.mean(-1, keepdim=True)) ** 2).sum(-1, keepdim=True) / (self.width - 1)
        return part.a_2 * (x - x.mean(-1, keepdim=True)) / (deviation.sqrt() + 1e-6) + part.b_2

    def attend(self, part: Part, x: Tensor, memory: Tensor, mask: Tensor) -> Tensor:
        query, key, value, output = part.linears
        return output(mixed(query(x), key(memory), value(memory), self.heads, mask))

    def embedded(self, ids: Tensor, part: nn.Sequential) -> Tensor:
        return part[0].lut(ids) * math.sqrt(self.width) + part[1].pe[:, : ids.size(1)]

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        source_mask = (source != self.pad)[:, None, :]
        mask = (target != self.pad)[:, None, :] * causal(target.size(1))
        x = self.embedded(source, self.src_embed)
        for layer in self.encoder.layers:
            first, last = layer.sublayer
            y = self.normed(x, first.norm)
            x = x + self.attend(layer.self_attn, y, y, source_mask)
            y = self.normed(x, last.norm)
            x = x + layer.feed_forward.w_2(layer.feed_forward.w_1(y).clamp(min=0))
        memory = self.normed(x, self.encoder.norm)
        x = self.embedded(target, self.tgt_embed)
        for layer in self.decoder.layers:
            first, second, last = layer.sublayer
            y = self.normed(x, first.norm)
            x = x + self.attend(layer.self_attn, y, y, mask)
            y = self.normed(x, second.norm)
            x = x + self.attend(layer.src_attn, y, memory, source_mask)
            y = self.normed(x, last.norm)
            x = x + layer.feed_forward.w_2(layer.feed_forward.w_1(y).clamp(min=0))
        return self.generator.proj(self.normed(x, self.decoder.norm))


class PostNorm(nn.Module):
    """Post-norm with W_q, W_k, W_v and W_o; what the classes below share."""

    scaled, pad = True, 0
    sizes: tuple[int, int, int, int, int]

    def attend(self, part: Part, x: Tensor, memory: Tensor, mask: Tensor) -> Tensor:
        heads = self.sizes[3]
        return part.W_o(mixed(part.W_q(x), part.W_k(memory), part.W_v(memory), heads, mask))

    def run(
        self,
        embedded: tuple[Tensor, Tensor],
        masks: tuple[Tensor, Tensor],
        layers: tuple[list[list[Part]], list[list[Part]]],
    ) -> Tensor:
        """layers: of each stack, the parts of each in the order in which they run: attention and
        its norm, and at last two linear maps and theirs."""
        x, y = embedded
        source_mask, mask = masks
        for attention, first, expand, contract, last in layers[0]:
            x = first(x + self.attend(attention, x, x, source_mask))
            x = last(x + contract(expand(x).clamp(min=0)))
        for own, first, cross, second, expand, contract, last in layers[1]:
            y = first(y + self.attend(own, y, y, mask))
            y = second(y + self.attend(cross, y, x, source_mask))
            y = last(y + contract(expand(y).clamp(min=0)))
        return y


class WithFc(PostNorm):
    """The class with `encoder_layers`, `fc1` and `fc`; embeddings are not scaled, and its mask of
    the target closes the rows of padding, not its columns."""

    scaled = False

    def __init__(self, source: int, target: int, width: int, heads: int, hidden: int) -> None:
        super().__init__()
        self.sizes = (source, target, width, heads, hidden)

        def attention() -> Part:
            return Part(**{f"W_{one}": nn.Linear(width, width) for one in "qkvo"})

        def layer(names: tuple[str, ...]) -> Part:
            norms = {f"norm{one}": nn.LayerNorm(width) for one in range(1, len(names) + 2)}
            hidden_part = Part(fc1=nn.Linear(width, hidden), fc2=nn.Linear(hidden, width))
            return Part(**{name: attention() for name in names}, feed_forward=hidden_part, **norms)

        self.encoder_embedding = nn.Embedding(source, width)
        self.decoder_embedding = nn.Embedding(target, width)
        self.positional_encoding = Part(pe=positions(40, width))
        self.encoder_layers = nn.ModuleList(layer(("self_attn",)) for _ in range(2))
        self.decoder_layers = nn.ModuleList(layer(("self_attn", "cross_attn")) for _ in range(3))
        self.fc = nn.Linear(width, target)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        table = self.positional_encoding.pe
        x = self.encoder_embedding(source) + table[:, : source.size(1)]
        y = self.decoder_embedding(target) + table[:, : target.size(1)]
        masks = (
            (source != self.pad)[:, None, :],
            (target != self.pad)[:, :, None] * causal(target.size(1)),
        )
        encoder = [
            [one.self_attn, one.norm1, one.feed_forward.fc1, one.feed_forward.fc2, one.norm2]
            for one in self.encoder_layers
        ]
        decoder = [
            [
                *(one.self_attn, one.norm1, one.cross_attn, one.norm2),
                *(one.feed_forward.fc1, one.feed_forward.fc2, one.norm3),
            ]
            for one in self.decoder_layers
        ]
        return self.fc(self.run((x, y), masks, (encoder, decoder)))


class Dived(PostNorm):
    """That of Dive into Deep Learning: blocks by name, projections without biases."""

    def __init__(self, source: int, target: int, width: int, heads: int, hidden: int) -> None:
        super().__init__()
        self.sizes = (source, target, width, heads, hidden)

        def block(names: tuple[str, ...]) -> Part:
            parts: dict[str, nn.Module] = {
                name: Part(**{f"W_{one}": nn.Linear(width, width, bias=False) for one in "qkvo"})
                for name in names
            }
            for number in range(1, len(names) + 2):
                parts[f"addnorm{number}"] = Part(ln=nn.LayerNorm(width))
            ffn = Part(dense1=nn.Linear(width, hidden), dense2=nn.Linear(hidden, width))
            return Part(**parts, ffn=ffn)

        def stack(size: int, count: int, names: tuple[str, ...], **more: nn.Module) -> Part:
            blocks = Part(**{f"block{one}": block(names) for one in range(count)})
            return Part(embedding=nn.Embedding(size, width), blks=blocks, **more)

        self.encoder = stack(source, 2, ("attention",))
        names = ("attention1", "attention2")
        self.decoder = stack(target, 3, names, dense=nn.Linear(width, target))

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        width = self.sizes[2]
        x = self.encoder.embedding(source) * math.sqrt(width) + positions(source.size(1), width)
        y = self.decoder.embedding(target) * math.sqrt(width) + positions(target.size(1), width)
        masks = ((source != self.pad)[:, None, :], causal(target.size(1)))
        encoder = [
            [one.attention, one.addnorm1.ln, one.ffn.dense1, one.ffn.dense2, one.addnorm2.ln]
            for one in self.encoder.blks.children()
        ]
        decoder = [
            [
                *(one.attention1, one.addnorm1.ln, one.attention2, one.addnorm2.ln),
                *(one.ffn.dense1, one.ffn.dense2, one.addnorm3.ln),
            ]
            for one in self.decoder.blks.children()
        ]
        return self.decoder.dense(self.run((x, y), masks, (encoder, decoder)))
