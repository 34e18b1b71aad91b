#if Sandbox
import HTTPTypes
import Mustache
import SandboxCore

/// A page on which the web component `<file-selector>` can be tried without signing in (Sequencing dossier, rows D01 to
/// D20 and F04).
///
/// The page holds no token: its list comes from `/console/files`, for the person of the sandbox in `as`, and with the flags
/// of `DataSourceList`; without any it is the whole list. Faults apply to
/// these routes too, so that the component's error and loading states can be seen.
struct ConsoleRoutes: Sendable {
    let pages: Pages
    let library: FileLibrary

    var routes: [Route] {
        [
            Route("GET", path: "/console", note: "try the file selector; as=PERSON", answer: console),
            Route(
                "GET", path: "/console/files", note: "the list of DataSourceList, by its flags or all; as=PERSON",
                answer: files),
            Route("GET", path: "/console/file-selector.js", note: "the web component") { _ in
                Self.script(PackageResources.file_selector_js)
            },
            Route("GET", path: "/console/console.js", note: "the page's own script") { _ in
                Self.script(PackageResources.console_js)
            },
        ]
    }

    /// The user by e-mail address or subject; the first one by default.
    private func person(_ request: IncomingRequest) -> SandboxUser? {
        guard let name = request.query["as"] else { return pages.dialect.users.first }
        return pages.dialect.user(name) ?? pages.dialect.user(subject: name)
    }

    private func files(_ request: IncomingRequest) -> Answer {
        guard let person = person(request) else {
            return APIRefusal(status: 404, message: "Invalid person", code: "person_not_found").answer
        }
        let asked = FileRoutes.asked(request)
        let files = library.all(subject: person.subject).filter { asked.isEmpty || asked.contains($0.category) }
        return FileRoutes.answer(files).adding(.cacheControl, "no-store")
    }

    private static func script(_ bytes: [UInt8]) -> Answer {
        Answer(
            status: 200,
            headers: [
                .contentType: "text/javascript; charset=utf-8", .cacheControl: "no-store",
                .xContentTypeOptions: "nosniff", .contentSecurityPolicy: "default-src 'none'",
            ],
            body: bytes)
    }

    private struct Console {
        let name: String
        let subject: String
        let link: String
        let people: [Person]
    }

    private struct Person {
        let displayName: String
        let note: String
        let link: String
        let isCurrent: Bool
    }

    private func console(_ request: IncomingRequest) -> Answer {
        guard let person = person(request) else { return pages.notFound() }
        func link(_ path: String, _ user: SandboxUser) -> String {
            "\(path)?as=\(PercentCoding.encoded(user.name))"
        }
        let view = Console(
            name: person.displayName, subject: person.subject, link: link("/console/files", person),
            people: pages.dialect.users.map {
                Person(
                    displayName: $0.displayName, note: $0.note, link: link("/console", $0),
                    isCurrent: $0.subject == person.subject)
            })
        return pages.page("Console", Template.console.render(view), isWide: true, scriptSources: ["'self'"])
    }
}

extension Template {
    fileprivate static let console = Template(
        """
        <h1>Pick a file as {{name}}</h1>
        <file-selector src="{{link}}" remember="{{subject}}" closable></file-selector>
        <h2>What the app gets</h2>
        <p><output id="choice">Nothing yet.</output></p>
        <pre id="record" tabindex="0" aria-label="The chosen record" hidden></pre>
        <h2 id="people">Whose files</h2>
        <nav aria-labelledby="people"><ul class="people">{{#people}}<li>\
        <a href="{{link}}"{{#isCurrent}} aria-current="page"{{/isCurrent}}>{{displayName}}</a>\
        <span>{{note}}</span></li>{{/people}}</ul></nav>
        <script type="module" src="/console/file-selector.js"></script>
        <script type="module" src="/console/console.js"></script>
        """)
}
#endif
