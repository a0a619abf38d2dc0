// Files of one's own: dropped onto the page or chosen, sent to the engine, and what can be chosen about them.
import { get, length } from "./controls";
import { Connection } from "./connection";
import { OpenedFile, OpenedMesh, State } from "./frame";

const kEndings = [".obj", ".stl", ".ply", ".off", ".json"];
const kMostBytes = 16 * 1024 * 1024; // as server/src/opened_file.h has it
const kSettles = 600; // a choice has come back from the engine after so long [ms]
const kHandy = 0.2; // a length that suits hands [m]

interface Choice {
  soft: boolean;
  cell: number;
  scale: number;
  z_up: boolean;
  repair: boolean; // its holes are filled
}

const megabytes = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(1)} MB`;

/// Units that a file may have been written in, and a handy size where none of them is right.
function unitsOf(mesh: OpenedMesh): [label: string, scale: number][] {
  const extent = Math.max(...mesh.size);
  const units: [string, number][] = [["metres", 1], ["centimetres", 0.01], ["millimetres", 0.001], ["inches", 0.0254]];
  const fits = units.filter(([, s]) => s * extent >= 1e-3 && s * extent <= 10);
  return [...fits, ["no matter: 20 cm long", kHandy / extent]];
}

export class OpenFile {
  private dragging = 0; // elements entered and not left
  private dismissed = ""; // the error that was read
  private local = ""; // what this page has to say itself: an error, or that it is sending
  private sending = false;
  private mesh: OpenedMesh | undefined;
  private readonly input = get<HTMLInputElement>("file-input");
  private readonly cell = get<HTMLInputElement>("file-cell");
  private last: OpenedFile | null = null;
  private chosen = -Infinity; // when something was chosen here last, which the engine may not have heard yet [ms]

  constructor(private readonly connection: Connection) {
    get("open").addEventListener("click", () => this.input.click());
    this.input.addEventListener("change", () => {
      void this.open(Array.from(this.input.files ?? []));
      this.input.value = ""; // the same file may be chosen again
    });
    const hasFiles = (e: DragEvent) => e.dataTransfer?.types.includes("Files") ?? false;
    addEventListener("dragenter", (e) => hasFiles(e) && this.drag(1));
    addEventListener("dragleave", (e) => hasFiles(e) && this.drag(-1));
    addEventListener("dragover", (e) => hasFiles(e) && e.preventDefault());
    addEventListener("drop", (e) => {
      if (!hasFiles(e)) return;
      e.preventDefault();
      this.drag(-this.dragging);
      void this.open(Array.from(e.dataTransfer?.files ?? []));
    });
    get("file-kind").addEventListener("change", (e) => this.choose({ soft: (e.target as HTMLInputElement).value === "soft" }));
    get("file-units").addEventListener("change", (e) => this.choose({ scale: +(e.target as HTMLSelectElement).value }));
    get("file-up").addEventListener("change", (e) => this.choose({ z_up: (e.target as HTMLInputElement).checked }));
    // Filled holes are asked for to make it soft; without them its cells mean nothing.
    get("file-repair").addEventListener("change", (e) => {
      const repair = (e.target as HTMLInputElement).checked;
      this.choose({ repair, soft: repair, cell: 0 });
    });
    this.cell.addEventListener("input", () => this.showCell(10 ** +this.cell.value));
    this.cell.addEventListener("change", () => this.choose({ cell: 10 ** +this.cell.value }));
    get("file-error-close").addEventListener("click", () => {
      this.dismissed = this.last?.error ?? "";
      this.local = "";
      this.showStatus();
    });
  }

  private drag(by: number): void {
    this.dragging = Math.max(0, this.dragging + by);
    get("drop").hidden = this.dragging === 0;
  }

  private async open(files: File[]): Promise<void> {
    const file = files.find((f) => kEndings.some((e) => f.name.toLowerCase().endsWith(e)));
    if (files.length === 0 || this.sending) return;
    this.dismissed = this.last?.error ?? "";
    if (!file) this.local = `${files[0].name}: not a file that can be opened here. Those that can end with ${kEndings.join(", ")}.`;
    else if (file.size > kMostBytes) this.local = `${file.name}: ${megabytes(file.size)}; at most ${megabytes(kMostBytes)} can be opened here. palpate view reads larger meshes from a scene file.`;
    else await this.send(file);
    this.showStatus();
  }

  private async send(file: File): Promise<void> {
    this.sending = true;
    this.local = `Sending ${file.name} …`;
    this.showStatus();
    try {
      const answer = await fetch(`open?name=${encodeURIComponent(file.name)}`, { method: "POST", body: file });
      this.local = answer.ok ? "" : `${file.name}: ${await answer.text()}`;
    } catch {
      this.local = `${file.name}: could not be sent; the engine cannot be reached.`;
    }
    this.sending = false;
  }

  private choose(change: Partial<Choice>): void {
    const m = this.mesh;
    if (!m) return;
    const next: Choice = { soft: m.soft, cell: m.cell || m.cell_suggested, scale: m.scale, z_up: m.z_up, repair: m.repair, ...change };
    if (change.scale) next.cell *= change.scale / m.scale;
    this.chosen = performance.now();
    this.connection.send({ type: "make", ...next });
  }

  private showCell(cell: number): void {
    get("file-cell-text").textContent = length(cell);
  }

  show(s: State): void {
    this.last = s.file;
    this.mesh = s.file?.mesh && s.file.scene === s.scene && !s.film ? s.file.mesh : undefined;
    get("file").hidden = !this.mesh;
    if (this.mesh) this.showMesh(s.file!.open, this.mesh, s.file!.busy);
    this.showStatus();
  }

  private showMesh(name: string, m: OpenedMesh, busy: boolean): void {
    get("file-name").textContent = name;
    const size = m.size.map((x) => length(m.scale * x, Math.max(...m.size) * m.scale));
    get("file-figures").textContent = `${size.join(" × ")} · ${m.triangles.toLocaleString("en")} triangles`;
    const notes = [m.units && `${m.units}.`, m.faults, m.repaired && `Repaired: ${m.repaired}.`, m.refused_soft && `It cannot be soft: ${m.refused_soft}.`, m.loss];
    get("file-notes").textContent = notes.filter(Boolean).join(" ");
    const soft = get("file-kind").querySelector<HTMLInputElement>("input[value=soft]")!;
    soft.disabled = m.refused_soft !== "";
    if (busy || performance.now() < this.chosen + kSettles) return; // what was chosen stands until the engine has made it
    soft.checked = m.soft;
    get("file-kind").querySelector<HTMLInputElement>("input[value=static]")!.checked = !m.soft;
    const units = get<HTMLSelectElement>("file-units");
    const near = (a: number, b: number) => Math.abs(a / b - 1) < 1e-6;
    const options = unitsOf(m);
    if (units.dataset.key !== JSON.stringify(options)) {
      units.dataset.key = JSON.stringify(options);
      units.replaceChildren(...options.map(([label, scale]) => new Option(label, String(scale))));
    }
    if (document.activeElement !== units) units.value = String(options.find(([, scale]) => near(scale, m.scale))?.[1] ?? "");
    get<HTMLInputElement>("file-up").checked = m.z_up;
    get("file-repair-row").hidden = !m.can_repair;
    get<HTMLInputElement>("file-repair").checked = m.repair;
    get("file-cell-row").hidden = !m.soft;
    if (m.soft && document.activeElement !== this.cell) {
      Object.assign(this.cell, { min: String(Math.log10(m.cell_min)), max: String(Math.log10(m.cell_max)), step: "any" });
      this.cell.value = String(Math.log10(m.cell));
      this.showCell(m.cell);
    }
  }

  private showStatus(): void {
    const file = this.last;
    const busy = this.sending || (file?.busy ?? false);
    const error = !busy && this.local === "" && file?.error && file.error !== this.dismissed ? file.error : "";
    const text = file?.busy && !this.sending ? `Making a scene of ${file.name} … ${file.seconds >= 1 ? `${file.seconds.toFixed(0)} s` : ""}` : this.local || error;
    get("file-status").hidden = text === "";
    get("file-status").classList.toggle("error", !busy && text !== "");
    get("file-status-text").textContent = text;
    get("file-error-close").hidden = busy;
  }
}
