#if Server && Sandbox
import ExampleServer
import Foundation
import HTTPTypes
import Hummingbird
import Mustache

/// The pages as HTML. All text is text: templates escape whatever they are given.
enum Pages {
    private static let frame = try? MustacheTemplate(
        string: """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>{{title}}</title>
            <link rel="icon" href="data:,">
            <link rel="stylesheet" href="/app.css">
            {{#user}}<script type="module" src="/connect/connected-accounts.js"></script>{{/user}}
            </head>
            <body>
            {{#user}}
            <header><p>Logged in as {{.}}</p><form method="post" action="/log-out"><button>Log out</button></form></header>
            {{/user}}
            <main>
            <h1>{{title}}</h1>
            {{#user}}
            <p>Connect the services that this app may use for you. You can disconnect each of them at any time.</p>
            <connected-accounts log-in-href="/"></connected-accounts>
            <form class="use" method="post" action="/use"><p>The app uses your accounts when you ask it to.</p>
            <button>Use them now</button></form>
            {{/user}}
            {{^user}}
            {{#refused}}<p class="refused" role="alert">Wrong name or password. Try again.</p>{{/refused}}
            <form class="log-in" method="post" action="/log-in">
            <label for="name">Name</label><input id="name" name="name" autocomplete="username" required autofocus>
            <label for="password">Password</label>
            <input id="password" name="password" type="password" autocomplete="current-password" required>
            <button>Log in</button>
            </form>
            {{/user}}
            </main>
            <footer><p>A sample on this machine: the services are stand-ins, and nothing you do here leaves it.</p></footer>
            </body>
            </html>

            """)

    private struct Values {
        let title: String
        let user: String?
        let refused: Bool
    }

    static func accounts(of user: String) -> Response {
        page(Values(title: "Connected accounts", user: user, refused: false))
    }

    static func logIn(isRefused: Bool = false) -> Response {
        page(Values(title: "Log in", user: nil, refused: isRefused), status: isRefused ? .forbidden : .ok)
    }

    private static func page(_ values: Values, status: HTTPResponse.Status = .ok) -> Response {
        .page(frame?.render(values) ?? "", status: status)
    }

    /// The fields of a form as browsers send it; of two with one name the first.
    static func fields(_ text: String) -> [String: String] {
        let pairs = text.split(separator: "&").map { pair -> (String, String) in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                .map { String($0).replacingOccurrences(of: "+", with: " ").removingPercentEncoding ?? "" }
            return (parts[0], parts.count == 2 ? parts[1] : "")
        }
        return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
    }

    static let style = """
        :root{color-scheme:light dark;--paper:light-dark(#f5f4f0,#14171a);--ink:light-dark(#1c2024,#eceef0);
          --quiet:light-dark(#565b62,#b4bbc2);--line:light-dark(#80796b,#8b939b);--accent:light-dark(#0b635c,#82d2c8)}
        *{box-sizing:border-box}
        body{margin:0 auto;padding:1.25rem;max-width:44rem;min-height:100dvh;display:flex;flex-direction:column;
          background:var(--paper);color:var(--ink);font:1rem/1.5 system-ui,sans-serif}
        header,.use{display:flex;flex-wrap:wrap;gap:.5rem 1rem;align-items:center;justify-content:space-between}
        header p,.use p,footer p{margin:0;color:var(--quiet)}
        main{flex:1;padding-block:2rem}
        main:first-child{padding-block-start:10vh}
        h1{margin:0 0 .5rem;font-size:1.75rem;line-height:1.2}
        h1 + p{margin:0 0 1.5rem;color:var(--quiet);text-wrap:pretty}
        .use{margin-block-start:1.5rem}
        .log-in{display:grid;gap:.35rem;max-width:22rem;margin-block-start:1rem}
        .log-in button{margin-block-start:1rem;border-color:var(--accent);background:var(--accent);color:var(--paper)}
        .log-in input{margin-block-end:.5rem}
        .refused{color:light-dark(#a11b1b,#ffb4ab)}
        input,button{min-height:2.75rem;padding:.4rem 1rem;border:1px solid var(--line);border-radius:.5rem;
          background:transparent;color:inherit;font:inherit}
        button{font-weight:600;cursor:pointer}
        :focus-visible{outline:3px solid var(--accent);outline-offset:2px}
        footer{font-size:.875rem}

        """
}
#endif
