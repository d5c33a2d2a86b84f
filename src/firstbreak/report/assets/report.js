"use strict";
(function () {
  var W = 600, H = 110;
  function numbers(text) {
    return text ? text.split(" ").map(function (t) { return t === "inf" ? Infinity : t === "-inf" ? -Infinity : t === "nan" ? NaN : Number(t); }) : [];
  }
  function shown(v) {
    if (!isFinite(v)) { return isNaN(v) ? "nan" : v > 0 ? "inf" : "-inf"; }
    return String(Number(v.toPrecision(4)));
  }
  function draw(plot) {
    var ys = plot.ys, log = plot.log, low = Infinity, high = -Infinity, i, v;
    var scaled = ys.map(function (y) { return isFinite(y) && (!log || y > 0) ? (log ? Math.log(y) : y) : NaN; });
    for (i = 0; i < scaled.length; i++) { v = scaled[i]; if (!isNaN(v)) { low = Math.min(low, v); high = Math.max(high, v); } }
    var span = high - low, pen = "M", d = "";
    for (i = 0; i < scaled.length; i++) {
      if (isNaN(scaled[i])) { pen = "M"; continue; }
      d += pen + plot.px(plot.xs[i]).toFixed(1) + " " + (span ? H - 4 - (scaled[i] - low) / span * (H - 8) : H / 2).toFixed(1);
      pen = "L";
    }
    plot.curve.setAttribute("d", d);
  }
  function nearest(xs, x) {
    var best = 0, i;
    for (i = 1; i < xs.length; i++) { if (Math.abs(xs[i] - x) <= Math.abs(xs[best] - x)) { best = i; } }
    return best;
  }
  document.querySelectorAll(".firstbreak .run").forEach(function (run) {
    var plots = [], at = null;
    function point(x) {
      at = x;
      plots.forEach(function (plot) {
        if (x === null || !plot.xs.length) { plot.cursor.setAttribute("d", ""); plot.readout.textContent = plot.rest; return; }
        var i = nearest(plot.xs, x), p = plot.px(plot.xs[i]).toFixed(1);
        plot.cursor.setAttribute("d", "M" + p + " 0V" + H);
        plot.readout.textContent = plot.clock + " " + plot.xs[i].toLocaleString("en") + ": " + shown(plot.ys[i]) + (plot.log ? ", log scale" : "");
      });
    }
    run.querySelectorAll(".plots").forEach(function (group) {
      var start = Number(group.dataset.start), end = Number(group.dataset.end);
      group.querySelectorAll(".plot").forEach(function (figure) {
        var plot = {
          xs: numbers(figure.dataset.x), ys: numbers(figure.dataset.y), log: figure.dataset.log === "1",
          curve: figure.querySelector(".curve"), cursor: figure.querySelector(".cursor"), readout: figure.querySelector(".readout"),
          clock: group.dataset.clock, px: function (x) { return (x - start) / (end - start || 1) * W; }
        };
        plot.rest = plot.readout.textContent;
        plots.push(plot);
        var svg = figure.querySelector("svg"), button = figure.querySelector("button");
        svg.addEventListener("pointermove", function (event) {
          var box = svg.getBoundingClientRect();
          point(start + (event.clientX - box.left) / box.width * (end - start));
        });
        svg.addEventListener("pointerleave", function () { point(null); });
        function toggle() {
          plot.log = !plot.log;
          button.setAttribute("aria-pressed", String(plot.log));
          plot.rest = plot.rest.replace(", log scale", "") + (plot.log ? ", log scale" : "");
          draw(plot); point(at);
        }
        if (button) { button.hidden = false; button.addEventListener("click", toggle); }
        figure.addEventListener("keydown", function (event) {
          var move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
          if (move && plot.xs.length) {
            var i = at === null ? (move > 0 ? -1 : plot.xs.length) : nearest(plot.xs, at);
            point(plot.xs[Math.min(Math.max(i + move, 0), plot.xs.length - 1)]);
            event.preventDefault();
          } else if (event.key === "Escape") { point(null); }
          else if (event.key === "l" && button) { toggle(); }
        });
      });
    });
  });
  window.addEventListener("beforeprint", function () {
    document.querySelectorAll(".firstbreak details").forEach(function (d) { d.open = true; });
  });
})();
