// Who holds the tool, where several pages look at one engine: asking for it, giving it.
import { Connection } from "./connection";
import { get } from "./controls";
import { State } from "./frame";

interface Offer {
  text: string;
  buttons: [label: string, message: string][];
}

function makeOffer(s: State, tool: number, page: number): Offer | undefined {
  const t = s.tools[tool];
  if (!t || s.film) return undefined;
  const it = s.tools.length > 1 ? t.name : "the tool";
  if (t.holder === page && t.asker) return { text: `Another page asks for ${it}.`, buttons: [["Give it", "give"], ["Keep it", "keep"]] };
  if (t.holder === page) return undefined;
  if (!t.holder && t.reserved === page) return { text: `You may take ${it} now.`, buttons: [] };
  if (!t.holder && !t.reserved) return undefined;
  if (t.asker === page) return { text: `You have asked for ${it}; it comes when the other page lets go.`, buttons: [] };
  return { text: `Another page ${t.holder ? "holds" : "may take"} ${it}.`, buttons: t.asker ? [] : [["Ask for it", "ask"]] };
}

/// Shows what there is to say and to answer about that tool.
export function showShare(s: State, tool: number, page: number, connection: Connection): void {
  const offer = makeOffer(s, tool, page);
  const parent = get("share");
  parent.hidden = !offer;
  const key = JSON.stringify([offer, tool]);
  if (parent.dataset.key === key) return;
  parent.dataset.key = key;
  parent.replaceChildren(
    offer?.text ?? "",
    ...(offer?.buttons ?? []).map(([label, type]) => {
      const button = document.createElement("button");
      button.textContent = label;
      button.dataset.share = type;
      button.addEventListener("click", () => connection.send({ type, tool }));
      return button;
    }),
  );
}
