/**
 * Lengths that scripts and style sheets share, in px. A style sheet names one as `env(--phone-width)`,
 * where `bundle.ts` writes its number: neither media queries nor canvases know custom properties.
 */

/** Widths of a window, up to which there is room for less; from the narrowest on. */
export const PHONE_WIDTH = 640;
export const PAGE_WIDTH = 700; // a page without a server has its inputs below each other
export const COLUMN_WIDTH = 900; // a training has its parts below each other
export const SMALL_WIDTH = 1150; // a real projector, or a small computer
export const DESK_WIDTH = 1300; // type of a projector has room for short names
export const WIDE_WIDTH = 1700; // room for more than there is elsewhere

/** Heights of a window, up to which there is room for less; from the lowest on. */
export const PHONE_HEIGHT = 480; // a phone on its side
export const LOW_HEIGHT = 720; // a projector
export const SMALL_HEIGHT = 800; // a small computer
export const DESK_HEIGHT = 900;
export const HIGH_HEIGHT = 1000; // type of a projector has room for all

/** Sizes of type, on a desk and on a projector. */
export const DESK_TYPE = 13;
export const SMALL_TYPE = 12; // nothing that is read is smaller
export const PROJECTOR_TYPE = 19;
export const SMALL_PROJECTOR_TYPE = 18;

/** Radii of corners: a number, because a style sheet asks a custom property of each chip anew. */
export const CORNER_SMALL = 3; // of what is in a picture or in a line of text
export const CORNER = 6; // of what is pressed
export const CORNER_LARGE = 8; // of what holds other things

export const MARK_WIDTH = 8; // of the mark of a word start, with what is around it
export const OUTLINE = 2; // of the current row on the map
export const THUMBNAIL_EDGE = 6; // what the frame of a head adds to its picture
export const LAYER_LABEL = 22; // beside the thumbnails
export const LAYER_TARGET = 44; // the same on a phone, large enough for a finger
export const LIST_MARGIN = 6; // above and below the candidates together
