// Draws the charts, again whenever the page becomes narrow, wide or paper.
(() => {
  const charts = JSON.parse(document.getElementById("charts").textContent);
  const narrow = matchMedia("(max-width: 640px)");
  const paperWidth = 680;
  const config = { displayModeBar: false, responsive: true };
  const draw = (onPaper) => {
    for (const chart of charts) {
      // plotly writes into what it is given, so it gets copies.
      const layout = structuredClone(narrow.matches && !onPaper ? chart.narrow : chart.layout);
      if (onPaper) layout.width = paperWidth;
      Plotly.react(chart.name, structuredClone(chart.data), layout, config);
    }
  };
  narrow.addEventListener("change", () => draw(false));
  addEventListener("beforeprint", () => draw(true));
  addEventListener("afterprint", () => draw(false));
  draw(false);
})();
