"""Contributions by loops over queries, keys and heads in float64: from the weights alone, without
a hook, sharing no code with the package."""

from collections.abc import Callable

import numpy as np

Shares = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""Of one query: parts (N, D), output (D,), weights (H, K), index of the residual → (N,)."""


def alti(parts, output, weights, own):
    size = np.abs(output).sum()
    return np.array([max(0.0, size - np.abs(output - part).sum()) for part in parts])


def norm(parts, output, weights, own):
    return np.array([np.sqrt((part**2).sum()) for part in parts])


def rollout(parts, output, weights, own):
    shares = np.zeros(len(parts))
    for key in range(weights.shape[1]):
        shares[key] += 0.5 * np.mean([head[key] for head in weights])
    shares[own] += 0.5
    return shares


class SlowContributions:
    """One Transformer, rolled out with the shares of a function above."""

    def __init__(self, model, shares: Shares) -> None:
        self.weights = {k: v.double().numpy() for k, v in model.state_dict().items()}
        self.config, self.shares = model.config, shares
        self.added: list[tuple[str, np.ndarray]] = []  # site, (Q, K, D): without the residual

    def matrix(self, source: list[int], target: list[int]) -> np.ndarray:
        """(T, S + T)."""
        memory, rolled = self._encode(source) if source else (None, np.eye(0))
        x = self._embed("decoder", target)
        found = np.concatenate([np.zeros((len(target), len(source))), np.eye(len(target))], 1)
        for layer in range(self.config.decoder_layers):
            name = f"decoder.layers.{layer}"
            x, own = self._attention(name, "self_attention", x, None, self.config.causal)
            found = own @ found
            if source:
                x, cross = self._attention(name, "cross_attention", x, memory, False)
                found *= cross[:, -1:]
                found[:, : len(source)] += cross[:, :-1] @ rolled
            x = self._feed_forward(name, x)
        return found

    def _encode(self, source):
        """The memory, and the shares of the source in it."""
        memory, rolled = self._embed("encoder", source), np.eye(len(source))
        for layer in range(self.config.encoder_layers):
            name = f"encoder.layers.{layer}"
            memory, own = self._attention(name, "self_attention", memory, None, False)
            memory, rolled = self._feed_forward(name, memory), own @ rolled
        return self._last("encoder", memory), rolled

    def _embed(self, stack, ids):
        width = self.config.d_model
        positions = np.zeros((len(ids), width))
        for position in range(len(ids)):
            for pair in range(width // 2):
                angle = position / 10_000 ** (2 * pair / width)
                positions[position, 2 * pair : 2 * pair + 2] = np.sin(angle), np.cos(angle)
        return self.weights[f"{stack}.embedding.tokens.weight"][ids] * width**0.5 + positions

    def _normed(self, name, x):
        centred = x - x.mean(-1, keepdims=True)
        scale = np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
        return centred / scale * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]

    def _last(self, stack, x):
        return self._normed(f"{stack}.norm", x) if self.config.norm == "pre" else x

    def _linear(self, name, x):
        return x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def _feed_forward(self, name, x):
        around, pre = f"{name}.around_feed_forward", self.config.norm == "pre"
        y = self._normed(around, x) if pre else x
        hidden = np.maximum(self._linear(f"{name}.feed_forward.expand", y), 0)
        x = x + self._linear(f"{name}.feed_forward.contract", hidden)
        return x if pre else self._normed(around, x)

    def _projected(self, name, y, memory):
        """Queries, keys and values (L, D)."""
        if memory is None:
            return np.split(self._linear(f"{name}.query_key_value", y), 3, -1)
        return self._linear(f"{name}.query", y), *np.split(
            self._linear(f"{name}.key_value", memory), 2, -1
        )

    def _attention(self, layer, kind, x, memory, causal):
        """The output of the sublayer, and the shares (Q, N)."""
        name, around = f"{layer}.{kind}", f"{layer}.around_{kind}"
        pre, width = self.config.norm == "pre", self.config.head_width
        q, k, v = self._projected(name, self._normed(around, x) if pre else x, memory)
        w_o, b_o = self.weights[f"{name}.output.weight"].T, self.weights[f"{name}.output.bias"]
        queries, keys = len(q), len(k)
        weights = np.zeros((queries, self.config.heads, keys))
        added = np.zeros((queries, keys, x.shape[1]))
        for i in range(queries):
            for head in range(self.config.heads):
                part = slice(head * width, (head + 1) * width)
                seen = range(i + 1 if causal else keys)
                scores = np.array([np.exp(q[i, part] @ k[j, part] / width**0.5) for j in seen])
                for j in seen:
                    weights[i, head, j] = scores[j] / scores.sum()
                    added[i, j] += weights[i, head, j] * (v[j, part] @ w_o[part])
        self.added.append(("cross" if memory is not None else layer.split(".")[0], added))
        outputs = x + added.sum(1) + b_o
        result = outputs if pre else self._normed(around, outputs)
        shares = []
        for i in range(queries):
            parts = (
                added[i].copy() if memory is None else np.vstack([added[i], np.zeros(x.shape[1])])
            )
            own = i if memory is None else keys
            parts[own] += x[i]
            if not pre:
                gamma, scale = self.weights[f"{around}.weight"], np.sqrt(outputs[i].var() + 1e-5)
                parts = (parts - parts.mean(-1, keepdims=True)) * gamma / scale
            shares.append(self.shares(parts, result[i], weights[i], own))
        shares = np.array(shares)
        return result, shares / shares.sum(-1, keepdims=True)
