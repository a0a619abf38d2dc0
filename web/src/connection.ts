// The socket to the engine: comes back by itself when it was lost.
import { Device } from "./device_panel";
import { Frame, Geometry, State, Surface, readMessage } from "./frame";

export interface Listener {
  geometry(geometry: Geometry): void;
  surface(surface: Surface): void;
  frame(frame: Frame): void;
  state(state: State): void;
  devices(devices: (Device | null)[]): void;
  connected(yes: boolean): void;
  greeted(page: number): void; // which number this page has
}

export class Connection {
  private socket: WebSocket | undefined;
  private delay = 250;

  constructor(private readonly listener: Listener) {
    this.open();
  }

  send(message: object): void {
    if (this.socket?.readyState === WebSocket.OPEN && this.socket.bufferedAmount < 4096) this.socket.send(JSON.stringify(message));
  }

  private open(): void {
    const socket = new WebSocket(`ws://${location.host}/live${location.search}`);
    this.socket = socket;
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.delay = 250;
      this.listener.connected(true);
    };
    socket.onmessage = (event) => {
      if (typeof event.data === "string") {
        const text = JSON.parse(event.data);
        if (text.you) return this.listener.greeted(text.you);
        return text.devices ? this.listener.devices(text.devices) : this.listener.state(text);
      }
      const message = readMessage(event.data);
      if (message.kind === "frame") this.listener.frame(message.frame);
      else if (message.kind === "surface") this.listener.surface(message.surface);
      else this.listener.geometry(message.geometry);
    };
    socket.onclose = () => {
      this.listener.connected(false);
      setTimeout(() => this.open(), this.delay);
      this.delay = Math.min(2000, 1.5 * this.delay);
    };
  }
}
