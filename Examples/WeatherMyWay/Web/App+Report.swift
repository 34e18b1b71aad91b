#if Server && Sandbox
import Foundation
import Handshake
import Hummingbird
import OAuth
import Sequencing

extension App {
    /// Remembers the file that the user picked, if it is one of the user's own or a sample.
    func choose(_ request: Request) async throws -> Response {
        let session = try visitor(request)
        let members = try await content(of: request)
        // The identifier comes from a browser: the service says whether this user has such a file.
        guard let id = members["id"]?.string.flatMap({ FileID($0) }), let file = try await genome(session).file(id)
        else { throw HTTPError(.notFound) }
        visitors.change(session) { $0.file = Visit.RememberedFile(id: file.id, name: file.displayName) }
        return .json(["name": .string(file.displayName)])
    }

    /// What the chains found, and the forecast of seven days with the advice for each.
    func report(_ request: Request) async throws -> Response {
        let session = try visitor(request)
        let visit = visitors.visit(session)
        guard let file = visit.file else { throw HTTPError(.notFound) }
        let wanted = request.uri.queryParameters["place"].map { String($0) }
        guard let place = wanted.map(places.place) ?? places.places.first else { throw HTTPError(.notFound) }
        let genes = try await genes(session, visit, file.id)
        visitors.change(session) { $0.place = place.name }
        let report = WeatherReport(place, for: genes, by: table)
        return .json([
            "file": .string(file.name), "place": .string(place.name), "country": .string(place.country),
            "answers": .array(
                genes.words.map { .object(["title": .string($0.title), "answer": .string($0.answer)]) }),
            "lacks_data": .bool(genes.lacksData), "failure": genes.error.map { JSONValue.string("\($0)") } ?? .null,
            "warning": .string(table.warning(at: place, for: genes) ?? ""),
            "days": .array(report.days.map(Self.json)), "disclaimer": .string(WeatherReport.disclaimer),
        ])
    }

    /// What the chains found in a file.
    ///
    /// - Throws: `HTTPError` when another user may have signed in since the visit: the answer is not theirs.
    private func genes(_ session: String, _ visit: Visit, _ file: FileID) async throws -> Genes {
        if let known = visit.genes[file] { return known }
        let genome = try await genome(session)
        let answers = ChainAnswers(visitors, session, visit.number)
        guard let genes = try await answers.genes(of: file, asking: { try await Genes.ask(genome, about: file) })
        else { throw HTTPError(.unauthorized) }
        return genes
    }

    private static func json(_ entry: WeatherReport.Entry) -> JSONValue {
        .object([
            "offset": .number("\(entry.offset)"), "condition": .string(entry.day.condition),
            "high": .number("\(entry.day.high)"), "low": .number("\(entry.day.low)"),
            "advice": .string(entry.sentence ?? ""),
        ])
    }

    // MARK: Import

    func progress(_ request: Request) async throws -> Response {
        let session = try visitor(request)
        return try await told(session, try await genome(session))
    }

    /// How the page learns of the imports.
    private func told(_ session: String, _ genome: Sequencing) async throws -> Response {
        .json(try await Imports(visitors, session).told(UnfinishedImports(of: genome, in: vault)))
    }

    func startImport(_ request: Request) async throws -> Response {
        let session = try visitor(request)
        let members = try await content(of: request)
        guard let source = members["source"]?.string.flatMap(ThirdPartyImport.Source.init) else {
            throw HTTPError(.unprocessableContent)
        }
        let genome = try await genome(session)
        try await Imports(visitors, session).start(
            source, login: members["login"]?.string ?? "", password: Secret(members["password"]?.string ?? ""),
            UnfinishedImports(of: genome, in: vault), ThirdPartyImport(genome))
        return try await told(session, genome)
    }

    func answerImport(_ request: Request) async throws -> Response {
        let session = try visitor(request)
        let answer = try await content(of: request)["answer"]?.string ?? ""
        let genome = try await genome(session)
        try await Imports(visitors, session).answer(
            answer, UnfinishedImports(of: genome, in: vault), ThirdPartyImport(genome))
        return try await told(session, genome)
    }

    /// Looks once for the files that have come since the last wait ended.
    func lookForImports(_ request: Request) async throws -> Response {
        let session = try visitor(request)
        let genome = try await genome(session)
        try await Imports(visitors, session).look(UnfinishedImports(of: genome, in: vault))
        return try await told(session, genome)
    }

    /// Gives up an import whose file will not come.
    func giveUp(_ request: Request) async throws -> Response {
        let session = try visitor(request)
        let key = try await content(of: request)["key"]?.string ?? ""
        let genome = try await genome(session)
        try await Imports(visitors, session).giveUp(key, UnfinishedImports(of: genome, in: vault))
        return try await told(session, genome)
    }

    // MARK: Connect

    /// Asks Sequencing.com to copy a file from the web into the account of an address (dossier 3.3).
    ///
    /// The link is made with the app's secret, and creates an account where there is none: without a sign-in and a
    /// limit, a stranger could have one made for any address.
    func copy(_ request: Request) async throws -> Response {
        let session = try visitor(request)
        let account = try await genome(session).account
        if case .ended = account.status.state { throw HTTPError(.unauthorized) }
        guard let connect else { throw HTTPError(.notFound) }
        let members = try await content(of: request)
        let file = try ConnectRequest.File(
            name: members["name"]?.string ?? "", kind: .geneticData, url: members["url"]?.string ?? "")
        let wanted = try ConnectRequest(
            email: Sequencing.EmailAddress(members["email"]?.string ?? ""), files: [file])
        // A request that cannot be sent counts for nothing. A user who signs in again, or elsewhere, is the same one.
        let user = try await account.identity().subject
        guard copies.admits(user, to: wanted.email.string, now: ProcessInfo.processInfo.systemUptime) else {
            return .json(["problem": .string(WeatherWords.tooManyCopies.rawValue)], status: .tooManyRequests)
        }
        return try await delivered(try connect.codec.link(wanted, at: connect.hosts))
    }

    /// Sends the request for a copy. One without an answer may have arrived: a second one would copy the file twice.
    private func delivered(_ link: EndpointURL) async throws -> Response {
        do {
            switch try await ConnectDelivery().deliver(link) {
            case .accepted: return .json(["outcome": .string("accepted")])
            case .refused(let status): return .json(["outcome": .string("refused"), "status": .number("\(status)")])
            }
        } catch let error as SequencingError {
            switch error {
            case .account(.network(let problem)) where !problem.mayHaveArrived: throw error
            case .account(.network), .service:
                return .json(["problem": .string(WeatherWords.copyUnconfirmed.rawValue)], status: .badGateway)
            default: throw error
            }
        }
    }

    private func content(of request: Request) async throws -> JSONObject {
        let content = try await request.body.collect(upTo: 16_384)
        return (try? JSONValue(parsing: Array(content.readableBytesView)))?.object ?? [:]
    }
}
#endif
