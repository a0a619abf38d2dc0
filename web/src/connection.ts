// The socket to the engine: comes back by itself when it was lost.
import { Frame, Geometry, State, isFrame, readFrame, readGeometry } from "./frame";

export interface Listener {
  geometry(geometry: Geometry): void;
  frame(frame: Frame): void;
  state(state: State): void;
  connected(yes: boolean): void;
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
      if (typeof event.data === "string") this.listener.state(JSON.parse(event.data));
      else if (isFrame(event.data)) this.listener.frame(readFrame(event.data));
      else this.listener.geometry(readGeometry(event.data));
    };
    socket.onclose = () => {
      this.listener.connected(false);
      setTimeout(() => this.open(), this.delay);
      this.delay = Math.min(2000, 1.5 * this.delay);
    };
  }
}
