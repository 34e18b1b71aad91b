#if Server && Sandbox
import ConnectButton

/// What the pages look like, and the little that they do by themselves.
enum ShopStyle {
    static let css =
        ConnectButtonScript.reservation + """
            :root{color-scheme:light dark;--ground:light-dark(#fbfaf6,#14181a);--card:light-dark(#fff,#1d2326);\
            --line:light-dark(#d9d5c9,#3a4347);--ink:light-dark(#1b2119,#eef1ec);--quiet:light-dark(#555d52,#b3bcb0);\
            --accent:light-dark(#2b6b2f,#93d690);--accent-ink:light-dark(#fff,#0c1f0d);--bad:light-dark(#a11b1b,#ffb4ab)}
            .light{color-scheme:light}
            .dark{color-scheme:dark}
            *{box-sizing:border-box}
            body{margin:0;background:var(--ground);color:var(--ink);font:1rem/1.55 system-ui,"Noto Sans",sans-serif;overflow-wrap:anywhere}
            header,main,footer{max-width:46rem;margin:0 auto;padding:0 1rem}
            header{display:flex;flex-wrap:wrap;gap:.5rem 1rem;justify-content:space-between;align-items:center;padding-block:.75rem}
            nav{display:flex;flex-wrap:wrap;gap:.25rem 1rem;align-items:center}
            nav a{padding:.25rem 0}
            .brand{font-weight:700;text-decoration:none}
            main{padding-block:1rem 2rem}
            footer{color:var(--quiet);padding-block:1rem 2rem}
            footer p{margin:0;padding-block-start:1rem;border-block-start:1px solid var(--line)}
            h1{font-size:1.5rem;line-height:1.25;margin:0 0 .75rem;text-wrap:balance}
            h2{font-size:1.1rem;margin:1.5rem 0 .5rem}
            a{color:var(--accent)}
            :focus-visible{outline:3px solid var(--accent);outline-offset:2px}
            ul{list-style:none;padding:0;margin:0}
            .cards{display:grid;gap:1rem}
            .cards li{background:var(--card);border:1px solid var(--line);border-radius:.75rem;padding:1rem}
            .cards h2{margin:0 0 .25rem}
            .cards p{margin:0 0 .5rem}
            .state{color:var(--quiet)}
            .cover{display:block;inline-size:100%;block-size:auto;border-radius:.75rem;margin-block-end:1rem}
            .features li{display:flex;gap:.75rem;align-items:center;padding:.4rem 0}
            .features img{background:#eef1ec;border-radius:.5rem;padding:4px;flex:none}
            connect-button{margin-block:1.5rem}
            .field label{display:block;font-weight:600}
            .field,.check{margin:0 0 1rem}
            .check{display:flex;gap:.6rem;align-items:start}
            .check input{inline-size:1.5rem;block-size:1.5rem;flex:none;margin:0;accent-color:var(--accent)}
            .field input,select{inline-size:100%;max-inline-size:26rem;padding:.6rem .7rem;font:inherit;color:inherit;\
            background:var(--card);border:1px solid light-dark(#767f72,#8c968a);border-radius:.5rem}
            button{font:inherit;font-weight:600;padding:.6rem 1.1rem;border:0;border-radius:.5rem;cursor:pointer;\
            background:var(--accent);color:var(--accent-ink)}
            .plain{background:none;color:var(--accent);border:1px solid currentColor;padding:.35rem .8rem}
            .ways{display:flex;flex-wrap:wrap;gap:.6rem 1rem;align-items:center}
            .done{border-inline-start:4px solid var(--accent);padding-inline-start:.75rem}
            fieldset{border:1px solid var(--line);border-radius:.75rem;background:var(--card);padding:1rem 1rem .25rem;margin:0 0 1.25rem;min-inline-size:0}
            legend{font-weight:700;padding:0 .4rem}
            .search{display:flex;gap:.5rem;max-inline-size:26rem}
            .search input{min-inline-size:0}
            .search button{flex:none}
            .pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,11rem),1fr));gap:0 1rem;max-inline-size:26rem}
            #configure,#walk{text-align:center}
            #notice:empty{display:none}
            #notice{color:var(--quiet);text-align:center;text-wrap:balance;margin-block:-.5rem 1.5rem}
            .problem{color:var(--bad);font-weight:600}
            .question{background:var(--card);border:1px solid var(--line);border-radius:.75rem;padding:1rem;margin-block:1.5rem}
            .question h2{margin:0 0 .25rem}
            .question p{text-wrap:pretty}
            .question p:last-child{margin:0}
            .areas,.crossings{display:grid;gap:.75rem;margin:0;padding:0;list-style:none}
            .areas li,.crossings li{background:var(--card);border:1px solid var(--line);border-radius:.75rem;padding:.75rem 1rem}
            .areas,form:has(+h2){margin-block-end:1.25rem}
            .crossings time{color:var(--quiet);font-variant-numeric:tabular-nums}
            .map{--entered:light-dark(#1a7f4f,#5fd39a);--left:light-dark(#c01c28,#ff8f88);margin:0 0 1rem;max-inline-size:32rem}
            .map svg{display:block;inline-size:100%;border:1px solid var(--line);border-radius:.75rem;pointer-events:none}
            .map rect{fill:var(--card)}
            .map text{fill:var(--ink)}
            .map .label{stroke:var(--card)}
            .map circle{fill:light-dark(#1a5fb4,#8fc1ff);stroke:light-dark(#1a5fb4,#8fc1ff)}
            .map .accuracy{fill:var(--quiet);stroke:var(--quiet)}
            .map [fill=none]{stroke:var(--ink)}
            .map .park{fill:light-dark(#d5e8cb,#22372a)}
            .map .building{fill:light-dark(#e9e2d6,#2b3236)}
            .map .water{stroke:light-dark(#aad3df,#1f3f4c)}
            .map .street{stroke:light-dark(#fff,#4a5358)}
            .map .main{stroke:light-dark(#fce2a4,#6b5a2c)}
            .map .edge{stroke:light-dark(#d1cbc0,#14181a)}
            .map [stroke=white]{stroke:var(--card)}
            .map [fill="#26a269"],.map .enter{fill:var(--entered);color:var(--entered)}
            .map [fill="#c01c28"],.map .exit{fill:var(--left);color:var(--left)}
            /* The caption says it larger. */
            .map .scale+text~*{display:none}
            .map figcaption{color:var(--quiet);padding-block-start:.25rem}
            @media(max-width:30rem){.map text{font-size:36px}}

            """

    /// What the shop adds when something did not work (F111); the button itself says what it was. Of what the user stopped, and
    /// of an address that is none, there is nothing to add.
    static let script = """
        const WORDS = {
          offline: 'The shop goes on as soon as you are back.',
          unavailable: 'Shopping works without it. Come back to it later.',
          unreachable: 'Nothing is lost. Try again in a moment.',
          too_many: 'Nothing is lost. Give it a minute.',
          unknown_connection: 'The shop does not offer it any more.',
          not_allowed: 'Log in with the account that made this connection.',
          sign_in_expired: 'Connect again to give the shop access to IFTTT.',
          account_not_created: 'Try it with another address.',
          app_not_opened: 'It works on IFTTT’s pages as well.',
          not_disconnected: 'It stays on until you disconnect it.',
          interrupted: 'You can connect whenever you like.',
        }
        const notice = document.getElementById('notice')
        const configure = document.getElementById('configure')
        const walk = document.getElementById('walk')
        for (const button of document.querySelectorAll('connect-button')) {
          // A connection that is still to be configured has none, also while its switch asks something.
          let hasAreas = button.answer?.state.step === 'connected'
          button.addEventListener('failed', ({ detail }) => { notice.textContent = WORDS[detail.kind] ?? '' })
          button.addEventListener('change', ({ detail }) => {
            notice.textContent = ''
            if (['connected', 'pending'].includes(detail.step)) hasAreas = detail.step === 'connected'
            // The links stay until the connection is off, so that nothing moves below a pointer.
            const isOff = !detail.isOn && detail.step !== 'disconnecting'
            if (configure) configure.hidden = isOff
            if (walk) walk.hidden = isOff || !hasAreas
          })
          // The button may have been quicker than this script.
          const step = button.answer?.state.step
          if (configure && ['connected', 'pending'].includes(step)) configure.hidden = false
          if (walk && step === 'connected') walk.hidden = false
        }

        """
}
#endif
