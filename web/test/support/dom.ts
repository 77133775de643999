// The part of a document that Preact draws into, readable as text.

class Node {
  childNodes: Node[] = [];
  parentNode: Node | null = null;
  constructor(readonly nodeType: number, readonly localName = '', public data = '') {}
  get firstChild(): Node | null { return this.childNodes[0] ?? null; }
  get firstElementChild(): Node | null { return this.childNodes.find(({nodeType}) => nodeType === 1) ?? null; }
  get nextSibling(): Node | null {
    const all = this.parentNode?.childNodes ?? [];
    return all[all.indexOf(this) + 1] ?? null;
  }
  get textContent(): string { return this.data + this.childNodes.map(each => each.textContent).join(''); }
  insertBefore(node: Node, before: Node | null): Node {
    node.remove();
    this.childNodes.splice(before ? this.childNodes.indexOf(before) : this.childNodes.length, 0, node);
    node.parentNode = this;
    return node;
  }
  appendChild(node: Node): Node { return this.insertBefore(node, null); }
  removeChild(node: Node): void {
    this.childNodes.splice(this.childNodes.indexOf(node), 1);
    node.parentNode = null;
  }
  remove(): void { this.parentNode?.removeChild(this); }
  contains(node: Node | null): boolean { return node !== null && (node === this || this.contains(node.parentNode)); }
  setAttribute(): void {}
  removeAttribute(): void {}
  addEventListener(): void {}
  removeEventListener(): void {}
}

// Installs it as the global document. Returns an element to draw into.
export function openDocument(): Element {
  Object.assign(globalThis, {
    document: {createElementNS: (_: string, name: string) => new Node(1, name), createTextNode: (text: string) => new Node(3, '', text),
      visibilityState: 'hidden', addEventListener: () => {}, removeEventListener: () => {}},
    ResizeObserver: class { observe() {} disconnect() {} }, getComputedStyle: () => ({lineHeight: '20px'}),
    addEventListener: () => {}, removeEventListener: () => {}});
  return new Node(1, 'main') as unknown as Element;
}
