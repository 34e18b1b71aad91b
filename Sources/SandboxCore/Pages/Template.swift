#if Sandbox
import Mustache

/// A page template, parsed once. One that does not parse renders its error.
package struct Template: Sendable {
    private let parsed: Result<MustacheTemplate, any Error>

    package init(_ text: String) {
        parsed = Result { try MustacheTemplate(string: text) }
    }

    /// The template filled in; values are HTML-escaped.
    package func render(_ view: Any) -> String {
        switch parsed {
        case .success(let template): template.render(view)
        case .failure(let error): "This page's template is broken: \(error)"
        }
    }

    static let frame = Template(
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>{{title}}</title>
        <style>{{{css}}}</style>{{#style}}<style>{{{style}}}</style>{{/style}}
        </head>
        <body{{#isWide}} class="wide"{{/isWide}}>
        <header><p class="brand">{{brand}} <span class="badge">Sandbox</span></p></header>
        <main><div class="card">
        {{{content}}}
        </div></main>
        <footer><p>Sandbox: nothing here is real. This page comes from a program on this machine and has no \
        connection to any real service. Do not type a password that you use elsewhere.</p></footer>
        </body>
        </html>
        """)

    static let signIn = Template(
        """
        <h1>Sign in to {{brand}}</h1>
        <p class="quiet">to continue to <strong>{{client}}</strong></p>
        {{#problem}}<div class="problem" role="alert" id="problem"><p>{{problem}}</p></div>{{/problem}}
        <form method="post" action="{{action}}">
        <input type="hidden" name="form_id" value="{{formID}}">
        <input type="hidden" name="form_token" value="{{formToken}}">
        <div class="field"><label for="email">E-mail address</label>
        <input id="email" name="email" type="email" value="{{name}}" autocomplete="username" required\
        {{^problem}} autofocus{{/problem}}\
        {{#isPasswordWrong}} aria-invalid="true" aria-describedby="problem"{{/isPasswordWrong}}></div>
        <div class="field"><label for="password">Password</label>
        <input id="password" name="password" type="password" autocomplete="current-password" required\
        {{#problem}} autofocus{{/problem}}\
        {{#isPasswordWrong}} aria-invalid="true" aria-describedby="problem"{{/isPasswordWrong}}></div>
        {{#asksForTwoFactorCode}}<div class="field"><label for="tfa">Two-factor code</label>
        <input id="tfa" name="tfa" type="text" inputmode="numeric" autocomplete="one-time-code"\
        {{#isCodeWrong}} aria-invalid="true"{{/isCodeWrong}} \
        aria-describedby="tfa-note{{#isCodeWrong}} problem{{/isCodeWrong}}">
        <p class="note" id="tfa-note">Only if the account has one.</p></div>{{/asksForTwoFactorCode}}
        <div class="check"><input id="remember" name="remember" type="checkbox" value="1" checked>\
        <label for="remember">Keep me signed in</label></div>
        <button type="submit">Sign in</button>
        {{#passwordPage}}<p class="elsewhere"><a href="{{.}}">Forgot your password?</a></p>{{/passwordPage}}
        {{#providers}}<button class="second" type="submit" name="provider" value="{{.}}" formnovalidate>\
        Sign in with {{.}}</button>{{/providers}}
        {{#registrationPage}}<p class="elsewhere">No account yet? <a href="{{.}}">Create one</a></p>{{/registrationPage}}
        </form>
        <section class="hint" aria-labelledby="people"><h2 id="people">Users of this sandbox</h2>
        <p class="note">Choose one to fill in the e-mail address, then enter the password.</p>
        <ul class="people">{{#people}}<li><a href="{{link}}">{{name}}</a>
        <span>{{displayName}}, {{note}}</span>
        <span>password <code>{{password}}</code>\
        {{#oneTimeCode}}, two-factor code <code>{{oneTimeCode}}</code>{{/oneTimeCode}}</span></li>{{/people}}</ul>
        </section>
        """)

    static let consent = Template(
        """
        <h1>Allow {{client}} to use your account?</h1>
        <p class="quiet">You are signed in to {{brand}} as <strong>{{user}}</strong>.</p>
        <h2 id="scopes">It will be able to</h2>
        <ul class="scopes" aria-labelledby="scopes">{{#scopes}}<li>{{.}}</li>{{/scopes}}</ul>
        {{#facts}}<p class="note">{{.}}</p>{{/facts}}
        <form method="post" action="{{action}}">
        <input type="hidden" name="form_id" value="{{formID}}">
        <input type="hidden" name="form_build_id" value="{{buildID}}">
        <input type="hidden" name="form_token" value="{{formToken}}">
        <div class="choices"><button type="submit" name="op" value="{{allow}}">{{allow}}</button>
        <button type="submit" name="op" value="{{refuse}}" class="second">{{refuse}}</button></div>
        <p class="note">In both cases you will be sent to <code>{{destination}}</code></p>
        </form>
        <form method="post" action="{{action}}">
        <input type="hidden" name="form_id" value="{{formID}}">
        <input type="hidden" name="form_token" value="{{formToken}}">
        <p class="note">Not you? <button type="submit" name="op" value="{{switchAccount}}" class="link">\
        {{switchAccount}}</button></p>
        </form>
        """)
}

extension Template {
    static let refusal = Template(
        """
        <h1>Request rejected</h1>
        <div class="problem" role="alert"><p>{{detail}}</p></div>
        <p>You were not sent back to the app, since its address cannot be trusted. If you are its developer, \
        compare the request with the clients on the <a href="/">front page</a>.</p>
        """)

    static let posting = Template(
        """
        <h1>Back to the app</h1>
        <form method="post" action="{{action}}">
        {{#fields}}<input type="hidden" name="{{name}}" value="{{value}}">
        {{/fields}}<p>If nothing happens, select Continue.</p>
        <button type="submit">Continue</button>
        </form>
        <script>{{{script}}}</script>
        """)

    static let notFound = Template(
        """
        <h1>Nothing here</h1>
        <p>This service has no such page. The <a href="/">front page</a> lists what it has.</p>
        """)

    static let code = Template(
        """
        <h1>Copy your code</h1>
        <p>Give this code to <strong>{{client}}</strong> to finish signing in. It works once.</p>
        <code class="code" id="code">{{code}}</code>
        <p class="quiet">You can close this page afterwards.</p>
        """)

    static let front = Template(
        """
        <h1>{{brand}} in the sandbox</h1>
        <p>This stand-in listens on <code>{{origin}}</code>. Use this address in an app in place of the real service.</p>
        <h2>Routes</h2>
        <ul class="rows">{{#routes}}<li><code>{{name}}</code><p>{{note}}</p></li>{{/routes}}</ul>
        <h2>Users</h2>
        <ul class="rows">{{#people}}<li><code>{{name}}</code><p>{{note}}</p></li>{{/people}}</ul>
        <h2>Registered apps</h2>
        <ul class="rows">{{#clients}}<li><code>{{name}}</code><p>{{note}}</p></li>{{/clients}}</ul>
        <h2>Control routes</h2>
        <ul class="rows">{{#control}}<li><code>{{name}}</code><p>{{note}}</p></li>{{/control}}</ul>
        """)
}
#endif
