const PLAY_SECONDS = 6; // all places together take about this long

/**
 * Going from place to place, by hand or by playing.
 * @param given.count how many places there are
 * @param given.pace ms a place, at least and at most
 * @param given.begin prepares the first place to play from; false where nothing can be played
 * @param given.forward shows what comes next; false at the end
 */
export function createStepper({
  state,
  set,
  count,
  pace: [least, most],
  begin,
  forward,
}: {
  state: { readonly playing: boolean };
  set: (patch: { playing: boolean }) => void;
  count: () => number;
  pace: [number, number];
  begin: () => boolean;
  forward: () => boolean;
}) {
  let timer: ReturnType<typeof setInterval> | undefined;
  const pause = () => {
    clearInterval(timer);
    set({ playing: false });
  };
  const tick = () => {
    if (!forward()) pause();
  };
  const play = () => {
    if (state.playing) {
      pause();
      return;
    }
    if (!begin()) return;
    const pace = (PLAY_SECONDS * 1000) / count();
    timer = setInterval(tick, Math.min(Math.max(pace, least), most));
    set({ playing: true });
  };
  const next = () => {
    pause();
    forward();
  };
  return { play, pause, next };
}
