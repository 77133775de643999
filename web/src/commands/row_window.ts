import {useLayoutEffect, useState} from 'preact/hooks';
import type {RefObject} from 'preact';

// Rows of equal height, of which only the visible ones are rendered.
export interface RowWindow {
  first: number;
  end: number;
}

const overscan = 8;

export function windowOf(scrollTop: number, height: number, rowHeight: number, count: number): RowWindow {
  const first = Math.max(0, Math.min(Math.floor(scrollTop / rowHeight) - overscan, count));
  return {first, end: Math.min(count, Math.ceil((scrollTop + height) / rowHeight) + overscan)};
}

export function useRowWindow(scroller: RefObject<HTMLElement | null>, rowHeight: number, count: number): RowWindow {
  const [seen, setSeen] = useState({top: 0, height: 800});
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const look = () => setSeen({top: element.scrollTop, height: element.clientHeight});
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener('scroll', look, {passive: true});
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', look);
    };
  }, []);
  return windowOf(seen.top, seen.height, rowHeight, count);
}
