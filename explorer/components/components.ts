/** The components of the app: each by the name under which `component.py` mounts it. */

export { default as chart } from "./chart/js/chartComponent.ts";
export { default as classroom } from "./classroom/js/classroomComponent.ts";
export { default as head_grid } from "./head_views/js/headGridComponent.ts";
export { default as metric_matrix } from "./head_views/js/metricMatrixComponent.ts";
export { default as model_comparison } from "./head_views/js/modelComparisonComponent.ts";
export { default as words } from "./head_views/js/wordsComponent.ts";
export { default as lesson } from "./lesson/js/lessonComponent.ts";
export { default as lesson_list } from "./lesson/js/lessonListComponent.ts";
export { default as bar } from "./live/js/barComponent.ts";
export { default as explore } from "./live/js/exploreComponent.ts";
export { default as everything } from "./page/js/everythingComponent.ts";
export { default as player } from "./player/js/playerComponent.ts"; // which tests mount alone
export { default as training_replay } from "./training_replay/js/trainingReplayComponent.ts";
