"""The scores of heads by their weights alone, below their roles."""

import pandas as pd
import streamlit as st

from explorer.app import experiment_cache
from explorer.app.widgets.head_table_columns import columns, meanings, written
from explorer.app.widgets.head_tables import head_name, interval, site_name
from explorer.app.widgets.messages import literal
from explorer.core.errors import ConfigError
from explorer.core.i18n import say
from explorer.model.catalog import CatalogModel


def weight_scores_table(member: CatalogModel, language: str) -> None:
    """Draw them, folded, or the reason why a model of the library has none."""
    with st.expander(say("heads.weights_alone", language), key="weights-alone"):
        try:
            scores = experiment_cache.weight_scores(member)
        except ConfigError as error:
            st.info(literal(error.in_language(language)))
            return
        table = _shown(scores, language)
        st.dataframe(
            written(table),
            column_config=columns(table, language, "weights"),
            hide_index=True,
            key="weights-table",
            placeholder="–",
        )
        st.caption(literal(meanings(table, language, "weights")))
        about = [say("heads.weights_alone_about", language), *_missing(scores, language)]
        st.caption(literal(" ".join(about)))


def _shown(scores: pd.DataFrame, language: str) -> pd.DataFrame:
    heads = zip(scores.layer, scores["head"], strict=True)
    return pd.DataFrame(
        {
            "site": [site_name(site, language) for site in scores.site],
            "head": [head_name(*place) for place in heads],
            "copying": scores.copying,
            "copying_interval": list(map(interval, scores.copying_low, scores.copying_high)),
            "offset": scores.offset.astype(float),
            "at_offset": scores.positional,
            "at_offset_interval": list(
                map(interval, scores.positional_low, scores.positional_high)
            ),
            "chance": scores.positional_chance,
            "chance_interval": list(
                map(interval, scores.positional_chance_low, scores.positional_chance_high)
            ),
        }
    )


def _missing(scores: pd.DataFrame, language: str) -> list[str]:
    """Why some heads have a dash."""
    has_decoder = bool(scores.site.ne("encoder").any())
    below = scores.site.eq("encoder") & has_decoder
    reasons = {
        "heads.no_copying_below": scores.copying.isna() & below,
        "heads.no_copying": scores.copying.isna() & ~below,
        "heads.no_offset_cross": scores.site.eq("cross"),
    }
    return [say(key, language) for key, heads in reasons.items() if heads.any()]
