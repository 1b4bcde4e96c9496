/**
 * Show all controls from the start where a person has chosen so, see `page/js/everything.ts`: the
 * page is drawn before its switch.
 */
try {
  const chosen = localStorage.getItem("attention-everything") !== null;
  document.documentElement.toggleAttribute("data-everything", chosen);
} catch {} // without storage nothing was chosen
