// Before the page is drawn: a browser that the script can use says so, and what is for others stays hidden.
if ("noModule" in HTMLScriptElement.prototype && "AbortSignal" in self && "timeout" in AbortSignal) {
  document.documentElement.classList.add("script");
}
