#if Server && Sandbox
import ExampleServer
import Foundation
import HTTPTypes
import Handshake
import Hummingbird
import Mustache
import OAuth

/// The pages as HTML. All text is text: templates escape whatever they are given.
enum Pages {
    /// Where the user signs in, and comes back from.
    static let signInAddress = "/connect/sequencing/start?return_to=/"

    private static let frame = """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
        <title>Weather My Way</title>
        <link rel="icon" href="data:,">
        <link rel="stylesheet" href="/app.css">
        <script type="module" src="/genes/file-selector.js"></script>
        <script type="module" src="/genes/registration-sheet.js"></script>
        <script type="module" src="/weather.js"></script>
        </head>
        <body>
        %CONTENT%
        <footer><p>{{disclaimer}}</p><p>A sample on this machine: Sequencing.com is a stand-in, the forecast is made up, and nothing
        you do here leaves it.</p></footer>
        </body>
        </html>

        """

    private static func template(_ content: String) -> MustacheTemplate? {
        try? MustacheTemplate(string: frame.replacingOccurrences(of: "%CONTENT%", with: content))
    }

    private static let welcome = template(
        """
        <main class="welcome">
        <h1>\(WeatherWords.title.rawValue)</h1>
        <p>\(WeatherWords.introduction.rawValue)</p>
        {{#notice}}<p class="notice" role="status">{{.}}</p>{{/notice}}
        <p class="acts"><a class="button first" href="\(signInAddress)">\(WeatherWords.signIn.rawValue)</a>
        <button type="button" id="register" disabled>\(WeatherWords.register.rawValue)</button></p>
        </main>
        <registration-sheet></registration-sheet>
        """)

    private static let app = template(
        """
        <header><p class="brand">Weather My Way</p>
        {{#user}}<p class="user">Signed in as <strong>{{.}}</strong></p>{{/user}}
        <form method="post" action="/sign-out"><button>Sign out</button></form></header>
        <main>
        {{#notice}}<p class="notice" role="status" id="expired">{{.}}
        <a href="\(signInAddress)">\(WeatherWords.signInAgain.rawValue)</a></p>{{/notice}}
        <h1 id="heading" tabindex="-1">{{#file}}Your forecast{{/file}}{{^file}}\(WeatherWords.whichFile.rawValue){{/file}}</h1>
        <section id="choice" aria-label="File and place" data-file="{{file}}">
        <p id="chosen">{{#file}}{{.}}{{/file}}{{^file}}Pick one of your own genetic files, or a sample.{{/file}}</p>
        <button type="button" id="choose" class="first" disabled>\(WeatherWords.chooseFile.rawValue)</button>
        <label for="place">Place</label>
        <select id="place">{{#places}}<option data-warning="{{warning}}"{{#isCurrent}} selected{{/isCurrent}}>{{name}}</option>{{/places}}</select>
        </section>
        <p id="warning" class="warning" role="alert" hidden></p>
        <p id="status" role="status"></p>
        <section id="report" aria-labelledby="heading" hidden></section>
        <section class="more" aria-labelledby="more"><h2 id="more">Bring in more data</h2>
        <p>Sequencing.com fetches your data at 23andMe or Ancestry, or a file from the web.</p>
        <p class="acts"><button type="button" id="import" disabled>\(WeatherWords.importData.rawValue)</button>
        <button type="button" id="copy" disabled>\(WeatherWords.copyFile.rawValue)</button></p>
        <div id="progress" hidden></div></section>
        </main>
        <file-selector modal src="/genes/files?all=true"{{#account}} remember="{{.}}"{{/account}}
        sign-in-href="\(signInAddress)"></file-selector>
        <dialog id="import-sheet" aria-labelledby="import-title"><form method="dialog" novalidate>
        <h2 id="import-title" tabindex="-1">Import from</h2>
        <fieldset id="credentials"><legend class="unseen">Where the data is</legend>
        <div class="choice"><label><input type="radio" name="source" value="23andMe" checked> 23andMe</label>
        <label><input type="radio" name="source" value="Ancestry"> Ancestry</label></div>
        <p class="quiet">\(WeatherWords.importNote.rawValue)</p>
        <label for="login">Login</label><input id="login" name="login" autocomplete="off" autocapitalize="none" spellcheck="false">
        <label for="password">Password</label><input id="password" name="password" type="password" autocomplete="off"></fieldset>
        <fieldset id="question" hidden disabled><label for="answer" id="asked"></label>
        <input id="answer" name="answer" autocomplete="off">
        <p class="acts"><button type="button" id="restart">Start the import again</button></p></fieldset>
        <p class="problem" id="import-problem" role="alert"></p>
        <p class="acts"><button class="first" value="go" id="import-go">Import</button><button value="cancel" type="button"
        class="leave">Cancel</button></p>
        <section id="unfinished" aria-labelledby="unfinished-title" hidden>
        <h3 id="unfinished-title">\(WeatherWords.unfinished.rawValue)</h3>
        <p class="quiet">\(WeatherWords.giveUpNote.rawValue)</p><ul></ul></section>
        <p class="quiet" id="given-up" role="status"></p></form></dialog>
        <dialog id="copy-sheet" aria-labelledby="copy-title"><form method="dialog" novalidate>
        <h2 id="copy-title">\(WeatherWords.copyFile.rawValue)</h2>
        <p class="quiet">Sequencing.com downloads it into the account of this address, and creates the account if there is none.</p>
        <label for="copy-email">Email address of the account</label><input id="copy-email" type="email" autocomplete="email">
        <label for="copy-name">File name</label><input id="copy-name" autocomplete="off" value="ada.vcf.gz">
        <label for="copy-url">Where it is</label><input id="copy-url" type="url" autocomplete="off"
        value="https://files.example.test/ada.vcf.gz">
        <p class="problem" id="copy-problem" role="alert"></p>
        <p class="acts"><button class="first" value="go" id="copy-go">Copy</button><button value="cancel" type="button" class="leave">Cancel</button>
        </p></form></dialog>
        """)

    private struct Welcome {
        let notice: String?
        let disclaimer = WeatherReport.disclaimer
    }

    private struct PlaceOption {
        let name: String
        /// The alert in force there, which waits for no genes; nil without one.
        let warning: String?
        let isCurrent: Bool
    }

    private struct Values {
        /// What is said above the sign-in that is needed again; nil where none is.
        let notice: String?
        let user: String?
        /// The account under which the browser keeps the user's choice.
        let account: String?
        let file: String?
        let places: [PlaceOption]
        let disclaimer = WeatherReport.disclaimer
    }

    /// The page of a browser without a signed-in user.
    static func welcome(after event: String?) -> Response {
        .page(welcome?.render(Welcome(notice: words(after: event))) ?? "")
    }

    private static func words(after event: String?) -> String? {
        switch event {
        case "cancelled": "You did not sign in. Nothing has changed."
        case "failed": "The sign-in failed. Try again."
        case "over": "You are signed out, and the app's access is revoked."
        case "over-here": "You are signed out here, but Sequencing.com has not revoked the app's access."
        default: nil
        }
    }

    /// - Parameters:
    ///   - identity: who has signed in; nil when the service has not said.
    ///   - event: how the last sign-in ended.
    ///   - isExpired: whether the user has to sign in again.
    ///   - places: all places, each with the alert in force there.
    static func app(
        _ identity: Identity?, after event: String?, isExpired: Bool, file: String?, place: String?,
        places: [(name: String, warning: String?)]
    ) -> Response {
        // An event in an address that is loaded again says nothing to a user who has signed in since.
        let notice = isExpired ? words(after: event) ?? WeatherWords.expired.rawValue : nil
        let values = Values(
            notice: notice, user: identity?.name, account: identity?.subject, file: file,
            places: places.map { PlaceOption(name: $0.name, warning: $0.warning, isCurrent: $0.name == place) })
        return .page(app?.render(values) ?? "")
    }

    /// The page's script. Its texts stand before it.
    static var script: Response {
        let words = WeatherWords.allCases.map { (key: "\($0)", value: JSONValue.string($0.rawValue)) }
        let code = String(decoding: PackageResources.weather_js, as: UTF8.self)
        return .text("const WORDS = \(JSONValue.object(JSONObject(words)).json);\n" + code, type: "text/javascript")
    }
}
#endif
