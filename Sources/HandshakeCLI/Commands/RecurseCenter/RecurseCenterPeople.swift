import ArgumentParser
import Handshake
import OAuth
import RecurseCenter

struct RecurseCenterMe: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "me", abstract: "Show your own profile.")

    @OptionGroup var options: RecurseCenterOptions

    func run() async throws {
        let profile = try await options.use { try await $0.profile(.me) }
        RecurseCenterText.print(profile, json: options.common.json)
    }
}

struct RecurseCenterProfile: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "profile", abstract: "Show somebody's profile.")

    @Argument(help: "The person's number or e-mail address.")
    var id: String

    @OptionGroup var options: RecurseCenterOptions

    func run() async throws {
        let profile = try await options.use { try await $0.profile(ProfileReference(id)) }
        RecurseCenterText.print(profile, json: options.common.json)
    }
}

struct RecurseCenterSearch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "search", abstract: "Look for people.")

    @Argument(help: "Words of a name; may be left out where another choice is made.")
    var text: String?

    @Option(help: ArgumentHelp("Only people of this batch.", valueName: "number"))
    var batch: Int64?

    @Option(help: ArgumentHelp("Only people in this place.", valueName: "number"))
    var location: Int64?

    @Option(help: "Only recurser, resident, facilitator or faculty.", transform: Self.word)
    var role: ProfileSearch.Role?

    @Option(help: "Only people who are there now (current), or were when you were (overlap).", transform: Self.word)
    var scope: ProfileSearch.Scope?

    @Option(help: "At most so many people.")
    var limit = 100

    @OptionGroup var options: RecurseCenterOptions

    func run() async throws {
        let search = try search()
        let limit = limit
        let people = try await options.use { center in
            var people: [Profile] = []
            for try await profile in center.search(search) {
                people.append(profile)
                if people.count == limit { break }
            }
            return people
        }
        if options.common.json {
            Output.result(JSONText.object([("profiles", .array(people.map(RecurseCenterText.json)))]).text)
            return
        }
        let rows = people.map { [$0.id.description, $0.name, $0.batchLabel, $0.location?.name ?? ""] }
        for line in Table.lines([["NUMBER", "NAME", "BATCH", "PLACE"]] + rows) { Output.result(line) }
    }

    /// Reads one of a set of words.
    private static func word<Word: RawRepresentable & CaseIterable>(_ text: String) throws -> Word
    where Word.RawValue == String {
        guard let word = Word(rawValue: text) else {
            throw ValidationError("expected one of \(Word.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return word
    }

    private func search() throws -> ProfileSearch {
        guard limit > 0 else { throw CommandError.usage("--limit is at least 1") }
        var search = ProfileSearch(text, role: role, scope: scope)
        if let batch {
            guard let id = BatchID(batch) else { throw CommandError.usage("--batch is a positive number") }
            search.batch = id
        }
        if let location {
            guard let id = LocationID(location) else { throw CommandError.usage("--location is a positive number") }
            search.location = id
        }
        guard search != ProfileSearch() else {
            throw CommandError.usage("say whom to look for: a text, --batch, --location, --role or --scope")
        }
        return search
    }
}

struct RecurseCenterBatches: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "batches", abstract: "List the batches.")

    @OptionGroup var options: RecurseCenterOptions

    func run() async throws {
        let batches = try await options.use { try await $0.batches() }
        if options.common.json {
            Output.result(JSONText.object([("batches", .array(batches.map(RecurseCenterText.json)))]).text)
            return
        }
        let rows = batches.map { batch in
            [
                batch.id.description, batch.name, batch.shortName ?? "", batch.startDate?.description ?? "",
                batch.endDate?.description ?? "",
            ]
        }
        for line in Table.lines([["NUMBER", "NAME", "SHORT", "FROM", "TO"]] + rows) { Output.result(line) }
    }
}
