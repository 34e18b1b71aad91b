#if Server && Sandbox
/// The style sheet of the pages.
enum Style {
    static let text = """
        :root{color-scheme:light dark;--paper:light-dark(#f4f6f8,#12161a);--card:light-dark(#fff,#1b1f23);--ink:light-dark(#1a1f24,#eceef0);
          --quiet:light-dark(#565d66,#aab2ba);--line:light-dark(#e3e5e8,#343b42);--field:light-dark(#7c848d,#8b939b);
          --accent:light-dark(#0b635c,#82d2c8);--accent-ink:light-dark(#fff,#06211e);--bad:light-dark(#a11b1b,#ffb4ab);
          --warn:light-dark(#8a3b00,#ffc46b);--warn-tint:light-dark(#fff3e0,#352815)}
        *{box-sizing:border-box}
        body{margin:0 auto;padding:1.25rem;max-width:56rem;min-height:100dvh;display:flex;flex-direction:column;background:var(--paper);
          color:var(--ink);font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
        h1{margin:0 0 .75rem;font-size:clamp(1.6rem,5vw,2.2rem);line-height:1.15;letter-spacing:-.02em;text-wrap:balance}
        h1:focus,h2:focus{outline:none}
        h2{margin:0 0 .4rem;font-size:1.15rem;letter-spacing:-.01em}
        p{margin:0 0 1rem;text-wrap:pretty}
        header{display:flex;flex-wrap:wrap;gap:.5rem 1rem;align-items:center;padding-bottom:1.25rem}
        header p{margin:0}.brand{flex:1;font-weight:700}.user{color:var(--quiet)}
        main{flex:1}
        .welcome{display:grid;align-content:center;max-width:38rem;padding-block:3rem}
        .welcome>p{font-size:1.1rem;color:var(--quiet)}
        button,.button,select,input{min-height:2.75rem;padding:.5rem 1rem;border:1px solid var(--field);border-radius:.6rem;
          background:var(--card);color:inherit;font:inherit}
        button,.button{display:inline-block;border-color:var(--line);font-weight:600;text-decoration:none;cursor:pointer}
        button:hover,.button:hover{border-color:var(--field)}
        .first{border-color:var(--accent);background:var(--accent);color:var(--accent-ink)}
        button:disabled{cursor:default;animation:wait 0s .2s forwards}
        /* With a delay: by then the page's script has usually enabled its buttons. */
        @keyframes wait{to{border-color:var(--line);background:var(--card);color:var(--quiet)}}
        :focus-visible{outline:3px solid var(--accent);outline-offset:2px}
        .acts{display:flex;flex-wrap:wrap;gap:.6rem;margin:0}
        .notice,.warning{padding:.75rem 1rem;border-radius:.6rem;background:var(--warn-tint);color:var(--ink)}
        #choice{display:grid;grid-template-columns:1fr auto auto auto;gap:.6rem 1rem;align-items:center;padding:1.1rem 1.25rem;
          border:1px solid var(--line);border-radius:.9rem;background:var(--card)}
        #chosen{margin:0;font-weight:600}
        #choice label{color:var(--quiet)}
        #status{min-height:1.5rem;margin:1rem 0;color:var(--quiet)}#status:empty{min-height:0;margin:0 0 1rem}
        .answers{display:grid;grid-template-columns:repeat(auto-fit,minmax(12rem,1fr));gap:.75rem;margin:0 0 1rem;padding:0}
        .answers div{padding:1rem 1.25rem;border:1px solid var(--line);border-radius:.9rem;background:var(--card)}
        dt{color:var(--quiet);font-size:.92rem}dd{margin:0;font-size:1.15rem;font-weight:650}
        .warning{margin:1rem 0;color:var(--warn);font-weight:600}
        .days{display:grid;gap:.6rem;margin:0;padding:0;list-style:none}
        .day{display:grid;grid-template-columns:2.75rem 16rem 1fr;gap:.25rem 1rem;align-items:center;padding:.9rem 1.25rem;
          border:1px solid var(--line);border-radius:.9rem;background:var(--card)}
        .day svg{width:2.5rem;height:2.5rem;fill:none;stroke:var(--accent);stroke-width:1.6;stroke-linecap:round;stroke-linejoin:round}
        .day h3{margin:0;font-size:1rem}.day h3 span{display:inline-block;white-space:pre}.day small{display:block;color:var(--quiet);font-size:.9rem}
        .day p{margin:0}
        .degrees{font-variant-numeric:tabular-nums}
        .more{margin-top:1.5rem;padding:1.25rem;border:1px solid var(--line);border-radius:.9rem;background:var(--card)}
        .more p:not(.acts){color:var(--quiet)}
        #progress{margin-top:1rem}
        #progress ol{display:grid;gap:.35rem;margin:0;padding:0;list-style:none}
        #progress li{padding-inline-start:1.6rem;position:relative;color:var(--quiet)}
        #progress li::before{content:"";position:absolute;inset-inline-start:.2rem;top:.45rem;width:.7rem;height:.7rem;border:2px solid var(--field);
          border-radius:50%}
        #progress .done::before,#progress .now::before{border-color:var(--accent);background:var(--accent)}
        #progress .now{color:var(--ink);font-weight:600}
        progress{width:100%;margin-top:.6rem;accent-color:var(--accent)}
        dialog{width:min(30rem,calc(100vw - 2rem));padding:1.5rem;border:0;border-radius:.9rem;background:var(--card);color:var(--ink);
          box-shadow:0 1.5rem 4rem rgb(8 16 24 / .3)}
        dialog::backdrop{background:rgb(12 16 20 / .5)}
        dialog label{display:block;margin:.75rem 0 .25rem;font-weight:600}
        dialog input:not([type=radio]){width:100%}
        fieldset{min-width:0;margin:0;padding:0;border:0}
        .choice{display:flex;gap:1.25rem}.choice label{display:flex;align-items:center;gap:.5rem;min-height:2.75rem;margin:0;font-weight:400}
        .choice input{min-height:0;width:1.15rem;height:1.15rem;accent-color:var(--accent)}
        dialog .acts{margin-top:1.25rem}
        #unfinished{margin-top:1.5rem;padding-top:1.25rem;border-top:1px solid var(--line)}
        #unfinished h3{margin:0 0 .5rem;font-size:1rem;text-wrap:balance}#unfinished .quiet{margin:0 0 .75rem}
        #unfinished ul{display:grid;gap:.6rem;margin:0;padding:0;list-style:none}
        #unfinished li{display:flex;flex-wrap:wrap;gap:.25rem 1rem;align-items:center;justify-content:space-between}
        #given-up{margin:1rem 0 0}#given-up:empty{margin:0}
        .problem{margin:.75rem 0 0;color:var(--bad)}.problem:empty{display:none}
        .quiet{color:var(--quiet);font-size:.92rem}
        .unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
        [hidden]{display:none !important}
        footer{padding-top:2rem;color:var(--quiet);font-size:.9rem}footer p{margin:0 0 .35rem}
        @media (max-width:36rem){
          body{padding:1rem}
          .user{order:1;flex-basis:100%}
          #choice{grid-template-columns:1fr auto;padding:1rem}#chosen{grid-column:1 / -1}#choose{grid-column:1 / -1}
          .day{grid-template-columns:2.75rem 1fr;padding:.9rem 1rem}.day p{grid-column:1 / -1}
          .acts>*{flex:1 1 100%;text-align:center}
        }
        @media (prefers-reduced-motion:no-preference){.days .day{animation:appear .3s both}@keyframes appear{from{opacity:0}}}

        """
}
#endif
