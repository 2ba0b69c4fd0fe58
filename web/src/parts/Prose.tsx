/** Markdown as it is drawn. Each block is drawn separately, so that a growing text redraws only its end. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { memo } from "./memo";
import { blocksOf, htmlOf, isCode } from "../text/markdown";
import { highlight } from "../text/highlight";
import { t } from "../texts";
import { Copy } from "./Copy";
import { whenNear } from "./near";
import type { Token } from "marked";

export function Prose({ text, strict = false }: { text: string; strict?: boolean }) {
  const blocks = useMemo(() => blocksOf(text), [text]);
  return (
    <div class="prose">
      {blocks.map((block, at) => (isCode(block) ? <Code key={at} code={block.text} language={block.lang ?? ""} /> : <MarkdownBlock key={at} raw={block.raw} token={block} strict={strict} />))}
    </div>
  );
}

const MarkdownBlock = memo(
  ({ token, strict }: { raw: string; token: Token; strict: boolean }) => <div class="block" dangerouslySetInnerHTML={{ __html: htmlOf(token, strict) }} />,
  (before, after) => before.raw === after.raw,
);

export const Code = memo(
  ({ code, language }: { code: string; language: string }) => {
    const [html, setHtml] = useState<string | null>(null);
    const name = /^[\w+#-]{1,20}/.exec(language)?.[0].toLowerCase() ?? "";
    const frame = useRef<HTMLDivElement>(null);
    useEffect(() => {
      let here = true;
      const leave = whenNear(frame.current as Element, () => void highlight(code, name).then((made) => here && setHtml(made)));
      return () => {
        here = false;
        leave();
      };
    }, [code, name]);
    return (
      <div class="code" ref={frame}>
        <div class="code-head">
          <span>{name}</span>
          <Copy text={code} label={t("page.chat.copy_code")} />
        </div>
        <pre tabIndex={0}>{html === null ? <code>{code}</code> : <code dangerouslySetInnerHTML={{ __html: html }} />}</pre>
      </div>
    );
  },
  (before, after) => before.code === after.code && before.language === after.language,
);
