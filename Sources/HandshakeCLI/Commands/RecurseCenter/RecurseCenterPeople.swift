#if CommandLine
import ArgumentParser
import Beacons
import Handshake
import OAuth
import RecurseCenter

struct RecurseCenterMe: BoundedCommand {
    static let configuration = CommandConfiguration(commandName: "me", abstract: "Show your own profile.")

    @Option(help: .timeout)
    var timeout = 60

    @OptionGroup var options: RecurseCenterOptions

    func run() async throws {
        let profile = try await options.use { try await $0.profile(.me) }
        RecurseCenterText.print(profile, json: options.common.json)
    }
}

struct RecurseCenterProfile: BoundedCommand {
    static let configuration = CommandConfiguration(
        commandName: "profile", abstract: "Show a person's profile.",
        discussion: "Without a network the cached profile of a person whom `nearby` has met is shown.")

    @Argument(help: "The person's number or email address.")
    var id: String

    @Option(help: .timeout)
    var timeout = 60

    @OptionGroup var options: RecurseCenterOptions

    func run() async throws {
        do {
            let profile = try await options.use { try await $0.profile(ProfileReference(id)) }
            RecurseCenterText.print(profile, json: options.common.json)
        } catch let error as HandshakeError {
            guard case .network = error, let entry = try await cached() else { throw error }
            Output.note("The Recurse Center cannot be reached. This is the profile of \(Moment.text(entry.fetchedAt)).")
            RecurseCenterText.print(entry.profile, json: options.common.json)
        }
    }

    private func cached() async throws -> ProfileDirectory.Entry? {
        guard let number = Int(id).flatMap({ try? UserNumber($0) }) else { return nil }
        let vault = try await NearbyVault.open(options.common)
        return await Acquaintances(nil, in: vault, account: options.account).cached(number)
    }
}

struct RecurseCenterSearch: BoundedCommand {
    static let configuration = CommandConfiguration(commandName: "search", abstract: "Search for people.")

    @Argument(help: "Words of a name; optional with another choice.")
    var text: String?

    @Option(help: ArgumentHelp("Only people of this batch.", valueName: "number"))
    var batch: Int64?

    @Option(help: ArgumentHelp("Only people in this place; see `locations`.", valueName: "number"))
    var location: Int64?

    @Option(help: "Only recurser, resident, facilitator or faculty.", transform: Self.word)
    var role: ProfileSearch.Role?

    @Option(help: "Only people who are there now (current), or were there with you (overlap).", transform: Self.word)
    var scope: ProfileSearch.Scope?

    @Option(help: "The maximum number of people to list.")
    var limit = 100

    @Option(help: .timeout)
    var timeout = 60

    @OptionGroup var options: RecurseCenterOptions

    func run() async throws {
        let search = try search()
        let limit = limit
        let people = try await options.use { center in
            try await center.search(search).prefix(limit).reduce(into: [Profile]()) { $0.append($1) }
        }
        if options.common.json {
            Output.result(JSONText.object([("profiles", .array(people.map(RecurseCenterText.json)))]).text)
            return
        }
        guard !people.isEmpty else {
            Output.note("No profile matches this search.")
            return
        }
        let rows = people.map { [$0.id.description, $0.name, $0.batchLabel, $0.location?.name ?? ""] }
        for line in Table.lines([["NUMBER", "NAME", "BATCH", "PLACE"]] + rows) { Output.result(line) }
    }

    /// Reads one of a set of words.
    private static func word<Word: RawRepresentable & CaseIterable>(_ text: String) throws -> Word
    where Word.RawValue == String {
        guard let word = Word(rawValue: text) else {
            throw ValidationError("Expected one of \(Word.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return word
    }

    private func search() throws -> ProfileSearch {
        guard limit > 0 else { throw CommandError.usage("--limit takes a number of 1 or more.") }
        var search = ProfileSearch(text, role: role, scope: scope)
        if let batch {
            guard let id = BatchID(batch) else {
                throw CommandError.usage(
                    "--batch takes a batch's number. List them with: handshake recurse-center batches")
            }
            search.batch = id
        }
        if let location {
            guard let id = LocationID(location) else {
                throw CommandError.usage(
                    "--location takes a place's number. Find it with: handshake recurse-center locations NAME")
            }
            search.location = id
        }
        guard search != ProfileSearch() else {
            throw CommandError.usage("Say whom to search for: words of a name, --batch, --location, --role or --scope.")
        }
        return search
    }
}

struct RecurseCenterLocations: BoundedCommand {
    static let configuration = CommandConfiguration(
        commandName: "locations", abstract: "List places by the beginning of their name, for `search --location`.")

    @Argument(help: "The beginning of a place's name.")
    var name: String

    @Option(help: "The most places to list, 1 to 50.")
    var limit = 10

    @Option(help: .timeout)
    var timeout = 60

    @OptionGroup var options: RecurseCenterOptions

    func run() async throws {
        let places = try await options.use { try await $0.locations(name, limit: limit) }
        if options.common.json {
            let members = places.map { place in
                JSONText.object([("id", .integer(place.id.number)), ("name", .string(place.name))])
            }
            return Output.result(JSONText.object([("locations", .array(members))]).text)
        }
        guard !places.isEmpty else { return Output.note("No place's name begins with this text.") }
        for line in Table.lines([["NUMBER", "NAME"]] + places.map { [$0.id.description, $0.name] }) {
            Output.result(line)
        }
    }
}

struct RecurseCenterBatches: BoundedCommand {
    static let configuration = CommandConfiguration(commandName: "batches", abstract: "List the batches.")

    @Option(help: .timeout)
    var timeout = 60

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
#endif
