"use strict";
/* The languages of a page, for highlight.js. */
(() => {
  const string = { className: "string", begin: '"', end: '"', contains: [{ begin: "\\\\." }] };
  const number = {
    className: "number",
    begin: /(?<![\w.%@-])-?(0x[0-9a-fA-F]+|\d+(\.\d+)?([eE][+-]?\d+)?)\b/,
  };
  hljs.registerLanguage("dt", () => ({
    keywords: {
      keyword: "Func In SIn Var RVar and or not none",
      type: "f64 f32 f16 bf16 f8e4m3 f8e5m2 i64 i32 i16 i8 u8 bool",
      literal: "inf nan pi",
    },
    contains: [
      { className: "comment", begin: "#", end: "$" }, number,
      { className: "title", begin: /(?<=\.)[a-z_]+(?=\()/ },
      { className: "built_in", begin: /\b[a-z_]\w*(?=\()/ },
    ],
  }));
  hljs.registerLanguage("mlir", () => ({
    contains: [
      { className: "comment", begin: "//", end: "$" }, string,
      { className: "variable", begin: /%[\w$.-]+/ }, { className: "symbol", begin: /@[\w$.-]+/ },
      { className: "type", begin: /![a-z_][\w.]*|\b(f64|f32|f16|bf16|index|i\d+|memref|f8\w+)\b/ },
      { className: "meta", begin: /#[a-z_][\w.]*/ },
      { className: "title", begin: /\b[a-z_]+\.[a-z_][\w.]*/ },
      { className: "keyword",
        begin: /\b(attributes|masked|pad|fill|acc|along|from|to|step|iter_args|loc|size|tile|of)\b/ },
      number,
    ],
  }));
  hljs.registerLanguage("assembly", () => ({
    contains: [
      { className: "comment", begin: "//", end: "$" },
      { className: "variable", begin: /%[\w.]+|\bU?[RP]\d+\b|\b(RZ|URZ|PT|UPT)\b/ },
      { className: "title", begin: /(?<=^\s+(@!?%?\w+\s+)?)[A-Za-z][\w.]*/ }, number,
      { className: "symbol", begin: /\$\w+|\.L\w+/ },
    ],
  }));
})();
