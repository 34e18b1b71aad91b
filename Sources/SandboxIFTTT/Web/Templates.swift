#if Sandbox
import SandboxCore

/// The pages of an attempt; each form proves by its token that it was made for this browser.
extension Template {
    static let flowFrame = Template(
        """
        {{#surface}}<p class="surface">{{surface}}</p>{{/surface}}
        {{#problem}}<div class="problem" role="alert" id="problem"><p>{{problem}}</p></div>{{/problem}}
        {{{content}}}
        {{#hasFailures}}<details class="ways"><summary>End with a failure (sandbox)</summary>
        <form method="post" action="{{action}}">
        <input type="hidden" name="form_token" value="{{formToken}}">
        <div class="choices">{{#failures}}<button type="submit" class="second" name="outcome" value="{{value}}">\
        {{text}}</button>{{/failures}}<button type="submit" class="second" name="do" value="close">\
        Close the window</button></div></form></details>{{/hasFailures}}
        """)

    static let flowSignIn = Template(
        """
        <h1>Sign in to IFTTT</h1>
        <p class="quiet">to continue with <strong><bdi>{{connection}}</bdi></strong></p>
        <form method="post" action="{{action}}">
        <input type="hidden" name="form_token" value="{{formToken}}">
        <div class="field"><label for="name">Name or e-mail address</label>
        <input id="name" name="name" type="text" value="{{name}}" autocomplete="username" autofocus\
        {{#isWrong}} aria-invalid="true" aria-describedby="problem"{{/isWrong}}></div>
        <div class="field"><label for="password">Password</label>
        <input id="password" name="password" type="password" autocomplete="current-password"\
        {{#isWrong}} aria-invalid="true" aria-describedby="problem"{{/isWrong}}></div>
        <div class="choices"><button type="submit" name="do" value="sign_in">Sign in</button>
        {{#canMail}}<button type="submit" class="second" name="do" value="mail">Mail me a link instead</button>{{/canMail}}
        </div></form>
        <section class="hint" aria-labelledby="people"><h2 id="people">Users of this sandbox</h2>
        <ul class="people">{{#people}}<li><strong>{{login}}</strong>
        <span>{{email}}, password <code>{{password}}</code></span></li>{{/people}}</ul></section>
        """)

    static let checkMail = Template(
        """
        <h1>Check your mail</h1>
        <p>A link is on its way to <strong>{{email}}</strong>. Open it in any browser to continue; it works once, for a \
        quarter of an hour.</p>
        <p><a class="button" href="{{mailbox}}">Open the sandbox's mailbox</a></p>
        <h2 id="clients">Mail apps on this device</h2>
        <ul class="rows" aria-labelledby="clients">{{#clients}}<li>{{#link}}<a href="{{link}}">Open {{name}}</a>{{/link}}\
        {{^link}}{{name}}{{/link}}</li>{{/clients}}{{^clients}}<li>The app reported none.</li>{{/clients}}</ul>
        <form method="post" action="{{action}}">
        <input type="hidden" name="form_token" value="{{formToken}}">
        <div class="choices"><button type="submit" class="second" name="do" value="mail">Send another mail</button>
        <button type="submit" class="second" name="do" value="password">Use a password instead</button></div></form>
        """)

    static let identify = Template(
        """
        <h1>Continue as <bdi>{{login}}</bdi>?</h1>
        <p>You are signed in to IFTTT as <strong>{{email}}</strong>, to {{verb}} \
        <strong><bdi>{{connection}}</bdi></strong>.</p>
        <form method="post" action="{{action}}">
        <input type="hidden" name="form_token" value="{{formToken}}">
        <div class="choices"><button type="submit" name="do" value="yes">Continue</button>
        <button type="submit" class="second" name="do" value="other">Not me: sign in as another user</button></div></form>
        """)

    static let service = Template(
        """
        <p class="band"><bdi>{{service}}</bdi></p>
        <h1>Connect <bdi>{{service}}</bdi></h1>
        {{#isPartner}}<p><strong><bdi>{{connection}}</bdi></strong> needs your account at <bdi>{{service}}</bdi>. You will \
        sign in on its own page and then come back.</p>{{/isPartner}}
        {{^isPartner}}<p><strong><bdi>{{connection}}</bdi></strong> wants to use <bdi>{{service}}</bdi> together with \
        <bdi>{{owner}}</bdi>. This service is fictional: it needs no sign-in.</p>
        <h2 id="parts">What it is used for</h2>
        <ul class="scopes" aria-labelledby="parts">{{#features}}<li><bdi>{{.}}</bdi></li>{{/features}}\
        {{^features}}<li>Being part of the connection</li>{{/features}}</ul>{{/isPartner}}
        <form method="post" action="{{action}}">
        <input type="hidden" name="form_token" value="{{formToken}}">
        <div class="choices">{{#isPartner}}<button type="submit" name="do" value="sign_in">Go to {{service}}</button>\
        {{/isPartner}}{{^isPartner}}<button type="submit" name="do" value="allow">Connect {{service}}</button>\
        {{/isPartner}}</div></form>
        """)

    static let review = Template(
        """
        <h1>Turn on <bdi>{{connection}}</bdi>?</h1>
        <p>You are <strong>{{login}}</strong>. You will choose the settings in the app of <bdi>{{owner}}</bdi>; nothing \
        runs until then.</p>
        <form method="post" action="{{action}}">
        <input type="hidden" name="form_token" value="{{formToken}}">
        <div class="choices"><button type="submit" name="do" value="yes">Connect</button></div></form>
        """)

    static let summary = Template(
        """
        <h1><bdi>{{connection}}</bdi></h1>
        <p><bdi>{{about}}</bdi></p>
        <ul class="rows">{{#features}}<li><bdi>{{title}}</bdi><p>{{note}}</p></li>{{/features}}</ul>
        {{#canReturn}}<form method="post" action="{{action}}">
        <input type="hidden" name="form_token" value="{{formToken}}">
        <div class="choices"><button type="submit" name="outcome" value="complete_without_token">Back to the app</button>\
        </div></form>{{/canReturn}}
        """)

    static let failed = Template(
        """
        <h1>Not connected</h1>
        <div class="problem" role="alert"><p>{{reason}}</p></div>
        {{#canReturn}}<form method="post" action="{{action}}">
        <input type="hidden" name="form_token" value="{{formToken}}">
        <div class="choices"><button type="submit" name="outcome" value="auth_error">Back to the app</button></div>\
        </form>{{/canReturn}}
        """)

    static let done = Template(
        """
        <h1>Done</h1>
        <p>The activation of <strong><bdi>{{name}}</bdi></strong> has ended. You can close this page.</p>
        """)

    static let flowRefusal = Template(
        """
        <h1>Request rejected</h1>
        <div class="problem" role="alert"><p>{{detail}}</p></div>
        <p>You were not sent back to the app, since its address cannot be trusted. If you are its developer, compare \
        the address with what is registered: the <a href="/_sandbox">description of the sandbox</a> lists it. To register \
        one more until the sandbox stops, post it to <code>/_sandbox/redirect-urls</code>, as \
        <code>curl -d ADDRESS</code> does.</p>
        """)

    static let stale = Template(
        """
        <h1>Start again</h1>
        <p>This page has expired, was used before, or was made for another browser. Go back to the app and start again.</p>
        """)

    static let closed = Template(
        """
        <h1>You can close this page</h1>
        <p>An app would have closed this window now, without an answer.</p>
        """)
}
#endif
