/** Images for a message: pasted, dropped or picked. */
import { useSignal, type Signal } from "@preact/signals";
import { Icon } from "../parts/Icons";
import { t } from "../texts";

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

export function usePictures(): Attachments {
  const images = useSignal<readonly Picture[]>([]);
  const trouble = useSignal<string | null>(null);
  const add = (files: Iterable<File>) => {
    trouble.value = null;
    for (const file of files) {
      const problem = problemOf(file);
      if (problem) trouble.value = problem;
      else
        read(file).then(
          (picture) => (images.value = [...images.value, picture]),
          () => (trouble.value = t("page.chat.image_unreadable")),
        );
    }
  };
  const paste = (event: ClipboardEvent) => {
    const files = [...(event.clipboardData?.files ?? [])];
    if (!files.length) return;
    event.preventDefault();
    add(files);
  };
  const encoded = () => images.value.map(({ media_type, data }) => ({ media_type, data }));
  return { images, trouble, add, clear: () => (images.value = []), encoded, paste, drop: useDrop(add) };
}

function problemOf(file: File): string | null {
  if (!TYPES.includes(file.type)) return t("page.chat.not_an_image");
  return file.size > LARGEST ? t("page.chat.image_too_large") : null;
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

/** A button that picks images from this machine. */
export function PickPictures({ pictures, disabled = false, children }: { pictures: Attachments; disabled?: boolean; children?: string }) {
  return (
    <label class={children ? "attach worded" : "attach"} title={t("page.chat.attach")}>
      <Icon name="image" />
      {children ?? <span class="unseen">{t("page.chat.attach")}</span>}
      <input
        type="file"
        class="unseen"
        accept={TYPES.join(",")}
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
  const { images, trouble } = pictures;
  if (!images.value.length && !trouble.value) return null;
  const remove = (at: number) => (images.value = images.value.filter((_, index) => index !== at));
  return (
    <div class="pictures">
      {images.value.map((picture, at) => (
        <figure key={at}>
          <img src={picture.url} alt={picture.name} />
          <button type="button" class="quiet" aria-label={t("page.chat.remove_image", { name: picture.name })} onClick={() => remove(at)}>
            <Icon name="close" />
          </button>
        </figure>
      ))}
      {trouble.value && (
        <p class="trouble" role="alert">
          {trouble.value}
        </p>
      )}
    </div>
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
