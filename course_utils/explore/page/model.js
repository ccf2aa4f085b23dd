// anywidget's model where there is no kernel: state by name, and listeners.

/** A new "state" is a question to `ask`, which returns {answer} or {failed}. remember: what is done with each state. */
export class Model {
  constructor(start, ask, remember) {
    this.values = {engine: "page", start, state: {}, answer: null};
    this.listeners = {};
    this.ask = ask;
    this.remember = remember;
  }
  get(name) {
    return this.values[name];
  }
  set(name, value) {
    this.values[name] = value;
  }
  on(event, listener) {
    (this.listeners[event] ??= []).push(listener);
  }
  off(event, listener) {
    this.listeners[event] = (this.listeners[event] ?? []).filter(one => one !== listener);
  }
  async save_changes() {
    const {asked} = this.values.state,
      found = await this.ask(this.values.state);
    this.values.answer = found.answer ?? {asked, problem: `The page cannot compute this: ${found.failed}.`};
    for (const listener of this.listeners["change:answer"] ?? []) listener();
  }
}
