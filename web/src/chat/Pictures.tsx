/** Images and text files for a message: pasted, dropped or picked. */
import { batch, useSignal, useSignalEffect, type Signal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { Icon } from "../parts/Icons";
import { me } from "../store/desk";
import { keepAttachments, readAttachments } from "../store/attachments";
import { reveal, revealExactly } from "../text/reveal";
import { t } from "../texts";
import { LARGEST_ALL, LARGEST_FILE, MOST_FILES, safeName, sizeOf, textOf, withFiles, type TextFile } from "./files";

interface Picture {
  media_type: string;
  data: string;
  url: string;
  name: string;
}

const TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const LARGEST = 5 * 1024 * 1024;

export interface Attachments {
  images: Signal<readonly Picture[]>;
  files: Signal<readonly TextFile[]>;
  /** Whether there is anything to send besides the text. */
  any: boolean;
  /** The message with its text files. */
  withText: (text: string) => string;
  trouble: Signal<string | null>;
  add: (files: Iterable<File>) => void;
  clear: () => void;
  /** As the hub expects them. */
  encoded: () => { media_type: string; data: string }[];
  paste: (event: ClipboardEvent) => void;
  drop: DropTarget;
}

interface DropTarget {
  onDragOver: (event: DragEvent) => void;
  onDragLeave: () => void;
  onDrop: (event: DragEvent) => void;
  "data-drop": boolean | undefined;
}

/** `draft`: the message that they belong to. */
export function usePictures(draft: string): Attachments {
  const images = useSignal<readonly Picture[]>([]);
  const files = useSignal<readonly TextFile[]>([]);
  useKept(draft, images, files);
  const trouble = useSignal<string | null>(null);
  const add = async (given: Iterable<File>) => {
    trouble.value = null;
    for (const file of [...given]) {
      try {
        if (images.value.length + files.value.length >= MOST_FILES) throw new Unfit(t("compose.too_many", { most: MOST_FILES }));
        if (TYPES.includes(file.type)) images.value = [...images.value, await picture(file)];
        else files.value = [...files.value, await textFile(file, files.value)];
      } catch (error) {
        trouble.value = error instanceof Unfit ? error.message : t("page.chat.image_unreadable");
      }
    }
  };
  const paste = (event: ClipboardEvent) => {
    const given = [...(event.clipboardData?.files ?? [])];
    if (!given.length) return;
    event.preventDefault();
    void add(given);
  };
  return {
    images,
    files,
    any: images.value.length + files.value.length > 0,
    trouble,
    add: (given) => void add(given),
    clear: () => (images.value = files.value = []),
    encoded: () => images.value.map(({ media_type, data }) => ({ media_type, data })),
    withText: (text) => withFiles(text, files.value, (name) => t("compose.attached", { name })),
    paste,
    drop: useDrop((given) => void add(given)),
  };
}

/** Attachments of a message that wasn't sent come back, and what changes is kept. */
function useKept(draft: string, images: Signal<readonly Picture[]>, files: Signal<readonly TextFile[]>): void {
  const asked = useRef(false);
  const known = useRef(false);
  useSignalEffect(() => {
    // Whose they are is known a moment after the page is there.
    if (asked.current || !me.value) return;
    asked.current = true;
    void readAttachments(draft).then((kept) => {
      known.current = true;
      if (!kept) return;
      const before = kept.images.map((each) => ({ ...each, url: `data:${each.media_type};base64,${each.data}` }));
      batch(() => {
        images.value = [...before, ...images.value];
        files.value = [...kept.files, ...files.value];
      });
    });
  });
  useSignalEffect(() => {
    const now = { images: images.value.map(({ media_type, data, name }) => ({ media_type, data, name })), files: files.value };
    if (known.current) void keepAttachments(draft, now);
  });
}

/** Why a file can't be attached, as a sentence. */
class Unfit extends Error {}

async function picture(file: File): Promise<Picture> {
  if (file.size > LARGEST) throw new Unfit(t("page.chat.image_too_large"));
  return read(file);
}

async function textFile(file: File, others: readonly TextFile[]): Promise<TextFile> {
  const name = safeName(file.name);
  if (file.size > LARGEST_FILE) throw new Unfit(t("compose.file_too_large", { size: sizeOf(LARGEST_FILE), name }));
  const text = textOf(await file.arrayBuffer());
  if (text === null) throw new Unfit(t("compose.not_readable", { name }));
  if (others.reduce((sum, each) => sum + each.text.length, text.length) > LARGEST_ALL) throw new Unfit(t("compose.all_too_large", { size: sizeOf(LARGEST_ALL) }));
  return { name, text };
}

function useDrop(add: (files: Iterable<File>) => void): DropTarget {
  const above = useSignal(false);
  return {
    onDragOver: (event) => {
      event.preventDefault();
      above.value = true;
    },
    onDragLeave: () => (above.value = false),
    onDrop: (event) => {
      event.preventDefault();
      above.value = false;
      add(event.dataTransfer?.files ?? []);
    },
    "data-drop": above.value || undefined,
  };
}

/** A button that picks images and text files from this machine. */
export function PickPictures({ pictures, disabled = false, children }: { pictures: Attachments; disabled?: boolean; children?: string }) {
  return (
    <label class={children ? "attach worded" : "attach"} title={t("compose.attach")}>
      <Icon name="attach" />
      {children ?? <span class="unseen">{t("compose.attach")}</span>}
      <input
        type="file"
        class="unseen"
        multiple
        disabled={disabled}
        onChange={(event) => {
          pictures.add(event.currentTarget.files ?? []);
          event.currentTarget.value = "";
        }}
      />
    </label>
  );
}

export function Pictures({ pictures }: { pictures: Attachments }) {
  const { images, files, trouble } = pictures;
  if (!pictures.any && !trouble.value) return null;
  const without = <T,>(list: readonly T[], at: number) => list.filter((_, index) => index !== at);
  return (
    <div class="pictures">
      {images.value.map((each, at) => (
        <figure key={at}>
          <img src={each.url} alt={each.name} />
          <Remove name={each.name} act={() => (images.value = without(images.value, at))} />
        </figure>
      ))}
      {files.value.map((each, at) => (
        <p key={at} class="text-file">
          <Icon name="read" />
          <span class="mono">{revealExactly(each.name)}</span>
          <span class="quiet-text">{sizeOf(each.text.length)}</span>
          <Remove name={each.name} act={() => (files.value = without(files.value, at))} />
        </p>
      ))}
      {trouble.value && (
        <p class="trouble" role="alert">
          {reveal(trouble.value)}
        </p>
      )}
    </div>
  );
}

function Remove({ name, act }: { name: string; act: () => void }) {
  return (
    <button type="button" class="quiet" aria-label={t("compose.remove", { name })} onClick={act}>
      <Icon name="close" />
    </button>
  );
}

function read(file: File): Promise<Picture> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onerror = () => reject(reader.error ?? new Error(file.name));
    reader.onload = () => {
      const url = String(reader.result);
      resolve({ media_type: file.type, data: url.slice(url.indexOf(",") + 1), url, name: file.name });
    };
    reader.readAsDataURL(file);
  });
}
