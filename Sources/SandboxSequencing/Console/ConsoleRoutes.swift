#if Sandbox
import HTTPTypes
import Mustache
import SandboxCore

/// A page that shows a developer what is in the sandbox: each user's files, and what app chains find in them (Sequencing
/// dossier, row F04).
///
/// No sign-in is needed, and the pages hold no token. `/console/files` is the list of `DataSourceList` for the user in `as`,
/// with its flags; without any it is the whole list. Faults apply to these routes too.
struct ConsoleRoutes: Sendable {
    let pages: Pages
    let library: FileLibrary

    /// How many files the page shows.
    private static let maximumShown = 100

    var routes: [Route] {
        [
            Route("GET", path: "/console", note: "users, files, and what app chains find; as=USER", answer: console),
            Route(
                "GET", path: "/console/files", note: "the list of DataSourceList, by its flags or all; as=USER",
                answer: files),
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

    private struct Console {
        let name: String
        let list: String
        let files: [File]
        let remaining: Int?
        let people: [Person]
    }

    private struct File {
        let id: String
        let name: String
        let category: String
        let melanoma: String
        let vitaminD: String
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
        let files = library.all(subject: person.subject)
        let view = Console(
            name: person.displayName, list: link("/console/files", person),
            files: files.prefix(Self.maximumShown).map(Self.file),
            remaining: files.count > Self.maximumShown ? files.count - Self.maximumShown : nil,
            people: pages.dialect.users.map {
                Person(
                    displayName: $0.displayName, note: $0.note, link: link("/console", $0),
                    isCurrent: $0.subject == person.subject)
            })
        return pages.page("Console", Template.console.render(view), isWide: true)
    }

    private static func file(_ file: GeneticFile) -> File {
        func answer(_ properties: [ResultProperty]) -> String {
            file.coverage == .unsupported ? "no result" : properties.first?.value ?? ""
        }
        return File(
            id: String(file.id), name: file.persona.name ?? file.name, category: file.category.rawValue,
            melanoma: answer(ChainAnswers.melanoma(file)), vitaminD: answer(ChainAnswers.vitaminD(file)))
    }
}

extension Template {
    fileprivate static let console = Template(
        """
        <h1>Files of {{name}}</h1>
        <p>What the list of files has, and what two app chains find. <a href="{{list}}">The list as JSON</a></p>
        <table><thead><tr><th scope="col">ID</th><th scope="col">File</th><th scope="col">Category</th>\
        <th scope="col">Chain9</th><th scope="col">Chain88</th></tr></thead>
        <tbody>{{#files}}<tr><td>{{id}}</td><td>{{name}}</td><td>{{category}}</td><td>{{melanoma}}</td>\
        <td>{{vitaminD}}</td></tr>{{/files}}</tbody></table>
        {{#remaining}}<p>… and {{.}} more.</p>{{/remaining}}
        <h2 id="people">Users</h2>
        <nav aria-labelledby="people"><ul class="people">{{#people}}<li>\
        <a href="{{link}}"{{#isCurrent}} aria-current="page"{{/isCurrent}}>{{displayName}}</a>\
        <span>{{note}}</span></li>{{/people}}</ul></nav>
        """)
}
#endif
