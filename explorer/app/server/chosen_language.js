/**
 * Remember the language that a person chooses with the switch, by its name there: a later visit by a
 * bare address opens in it. See `visitor.language`.
 */
{
  const remember = ({ target }) => {
    const choice = target instanceof Element && target.closest(".st-key-language");
    if (!choice) return;
    setTimeout(() => {
      const chosen = choice.querySelector('[role="radio"][aria-checked="true"]');
      if (!chosen) return;
      const name = encodeURIComponent(chosen.textContent.trim());
      document.cookie = `explorer-language=${name}; path=/; max-age=31536000; samesite=lax`;
    });
  };
  for (const kind of ["click", "keyup"]) document.addEventListener(kind, remember, true);
}
