/** What is taken for harmless at a glance is harmless: the rest is left to the sanitizer. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isColoured, isProse } from "../src/text/plain";

test("bare tags of prose and escaped letters are prose", () => {
  for (const html of [
    "",
    "words",
    "<p>a &amp; b &lt;script&gt; it&#39;s &quot;so&quot;</p>\n",
    "<ul>\n<li><code>x</code></li>\n</ul>",
    "<h2>one<br>two</h2><hr>",
    "a > b",
    '<a href="https://a.b/?x&#38;y" target="_blank" rel="noopener noreferrer nofollow">x</a> <span class="where">a.b</span>',
    '<a href="mailto:a@b.c" target="_blank" rel="noopener noreferrer nofollow">x</a>',
    '<table><thead><tr><th align="right">a</th></tr></thead></table><ol start="3"><li>x</li></ol>',
  ])
    assert.ok(isProse(html), html);
});

const NOT_PROSE = [
  "<a href='https://a.b'>x</a>",
  "<p onclick='x()'>",
  "<p >",
  "<P>",
  "<script>",
  "<scr",
  "<p/onload=x>",
  "<img src=x>",
  "<!-- -->",
  "<svg><p>",
  "<pre\n>",
  "</p x>",
  "<",
  "&#x202e;",
  "&nbsp;",
  "&",
  '<a href="https://a.b">x</a>',
  '<a href="javascript:x()" target="_blank" rel="noopener noreferrer nofollow">x</a>',
  '<a href="&#106;avascript:x()" target="_blank" rel="noopener noreferrer nofollow">x</a>',
  '<a href=" https://a" target="_blank" rel="noopener noreferrer nofollow">x</a>',
  '<a href="https://a" onclick="x()" target="_blank" rel="noopener noreferrer nofollow">x</a>',
  '<a href="https://a" target="_blank" rel="noopener noreferrer nofollow" onclick="x()">x</a>',
  '<a href="data:text/html,x" target="_blank" rel="noopener noreferrer nofollow">x</a>',
  '<span class="card">',
  '<span class="where" style="x">',
  '<td align="left" x>',
  '<ol start="1e9">',
  "<math>",
  "<template>",
  "&#x26;",
  "<style>",
  "<preload>",
  "<hr/>",
];
test("whatever has an attribute, another tag or another entity is not", () => {
  for (const html of NOT_PROSE) assert.ok(!isProse(`<p>words</p>${html}`), html);
});

test("code is letters and colours", () => {
  for (const html of ["x = 1", '<span class="hljs-keyword">if</span> a &lt; b &#x27;c&#x27;', '<span class="hljs-title function_">f</span>']) assert.ok(isColoured(html), html);
  for (const html of ["<b>", '<span class="hljs" onclick="x()">', '<span class="card">', '<span style="x">', "<span>", "</p>", "&#x202e;"]) assert.ok(!isColoured(html), html);
});

test("a long text is recognized as fast as a short one", () => {
  assert.ok(!isProse(`${"a".repeat(200_000)}<`));
  assert.ok(isProse("<p>a</p>".repeat(50_000)));
});
