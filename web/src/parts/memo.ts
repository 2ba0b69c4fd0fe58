/** A component that is redrawn only when its properties changed. */
import { Component, h, type FunctionComponent } from "preact";

export function memo<P extends object>(draw: FunctionComponent<P>, same: (before: P, after: P) => boolean = shallow): FunctionComponent<P> {
  class Memo extends Component<P> {
    override shouldComponentUpdate(next: P): boolean {
      return !same(this.props as P, next);
    }

    override render() {
      return h(draw, this.props as P & { key?: unknown });
    }
  }
  return Memo as unknown as FunctionComponent<P>;
}

function shallow(before: object, after: object): boolean {
  const [a, b] = [before as Record<string, unknown>, after as Record<string, unknown>];
  return Object.keys(b).every((key) => a[key] === b[key]) && Object.keys(a).length === Object.keys(b).length;
}
