#if CommandLine
import ArgumentParser
import Beacons
import Foundation
import Handshake
import Nearby
import OAuth
import RecurseCenter

struct NearbyShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show what this machine stores about a person: profile, encounters, keys.",
        discussion: "No service is contacted, so it works without a network.")

    @Argument(help: ArgumentHelp("The person's number.", valueName: "number"), transform: PersonArgument.parse)
    var person: UserNumber

    @Option(help: "The account that was asked for names and photos.")
    var account = "recurse-center"

    @Option(
        help: ArgumentHelp(
            "Write the photo to a new file, or with - to standard output, without the rest.", valueName: "file"))
    var photo: String?

    @OptionGroup var common: CommonOptions

    func run() async throws {
        if photo == "-" { try checkStandardOutput() }
        let vault = try await NearbyVault.open(common)
        let log = EncounterLog(in: vault, community: NearbyCommand.community)
        let (history, days, pairedName, member) = try await NearbyFailure.reported {
            let rolling = RollingKeys(in: vault, community: NearbyCommand.community)
            let days = try await rolling.friends().keys.filter { $0.0 == person }.map(\.1.day)
            return try await (log.history(of: person), days, rolling.pairedNames()[person], circleMember(in: vault))
        }
        let acquaintances = Acquaintances(nil, in: vault, account: account)
        let profile = await acquaintances.cached(person)?.profile
        let picture = try await photo(in: vault, acquaintances)
        guard history != nil || profile != nil || picture != nil || member != nil || !days.isEmpty else {
            throw CommandError(
                status: .usage, code: "unknown_person",
                message: "Nothing is stored about number \(person). People you met are in: handshake nearby log")
        }
        let facts = PersonFacts(
            person: person, pairedName: pairedName, known: history?.known ?? member, profile: profile,
            photo: picture.flatMap { ImageFormat($0) }, encounters: history?.encounters ?? [], friendUntil: days.max())
        if let photo { try Self.write(picture, of: person, to: photo) }
        guard photo != "-" else { return }
        if common.json {
            Output.result(facts.json.text)
        } else {
            for line in facts.lines { Output.result(line) }
        }
    }

    /// The person as a circle's table says; nil for who is in none.
    private func circleMember(in vault: any Vault) async throws -> Person? {
        for circle in try await JoinedCircle.all(in: NearbyVault.environment(vault)) {
            if let member = try await circle.introduce(person) { return member }
        }
        return nil
    }

    /// The photo that a circle sent, otherwise the one that the service had.
    private func photo(in vault: any Vault, _ acquaintances: Acquaintances) async throws -> [UInt8]? {
        let circles = try await NearbyFailure.reported {
            try await JoinedCircle.all(in: NearbyVault.environment(vault))
        }
        for circle in circles {
            if let photo = try? await circle.photo(of: person) { return photo }
        }
        return await acquaintances.photo(of: person)?.bytes
    }

    /// Standard output has either the photo or text, and a terminal would obey the bytes that a server chose.
    private func checkStandardOutput() throws {
        guard !common.json else {
            throw CommandError.usage("--photo - writes the photo to standard output. Name a file, or leave out --json.")
        }
        guard isatty(STDOUT_FILENO) == 0 else {
            throw CommandError.usage("A photo cannot be shown on a terminal. Send it through a pipe, or name a file.")
        }
    }

    /// Writes a photo to standard output, or into a new file that only its owner can read.
    private static func write(_ picture: [UInt8]?, of person: UserNumber, to file: String) throws {
        guard let picture else {
            throw CommandError(
                status: .usage, code: "no_photo",
                message: "No photo of number \(person) is stored. Leave out --photo to see what is stored.")
        }
        guard file != "-" else { return Output.result(bytes: picture) }
        try GivenFile.create(file, picture)
    }
}

struct NearbyFriends: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "friends", abstract: "List the friends whose rolling beacon is recognised, and until when.")

    @OptionGroup var common: CommonOptions

    func run() async throws {
        let vault = try await NearbyVault.open(common)
        let log = EncounterLog(in: vault, community: NearbyCommand.community)
        let (friends, damaged) = try await NearbyFailure.reported {
            let rolling = RollingKeys(in: vault, community: NearbyCommand.community)
            let (keys, damaged) = try await rolling.friends()
            let names = try await rolling.pairedNames()
            var friends: [(person: UserNumber, name: String?, origin: KeyOrigin, until: RollingDay)] = []
            for (person, keys) in Dictionary(grouping: keys, by: \.0) {
                guard let until = keys.map(\.1.day).max() else { continue }
                let known = try await log.history(of: person)?.known?.name
                friends.append((person, names[person] ?? known, KeyOrigin(pairedName: names[person]), until))
            }
            return (friends.sorted { $0.person < $1.person }, damaged)
        }
        for error in damaged { Output.note(quoted(error.message)) }
        if common.json {
            let members = friends.map { friend in
                JSONText.object([
                    ("person", .integer(Int64(friend.person.value))), ("name", .optional(friend.name)),
                    ("by", .string(friend.origin.rawValue)), ("until", .string(friend.until.date)),
                ])
            }
            return Output.result(JSONText.object([("friends", .array(members))]).text)
        }
        guard !friends.isEmpty else {
            return Output.note("There are no friends' keys. Pair with a person who is here: handshake nearby pair")
        }
        let rows = friends.map { [$0.person.description, $0.name ?? "", $0.origin.phrase, $0.until.date] }
        for line in Table.lines([["NUMBER", "NAME", "RECOGNISED", "UNTIL"]] + rows) { Output.result(line) }
    }
}

/// How a friend's keys came. Only a pairing shows that they are the person's.
enum KeyOrigin: String {
    case pairing, file

    /// - Parameter pairedName: the name that the friend gave when pairing; a file has none.
    init(pairedName: String?) {
        self = pairedName == nil ? .file : .pairing
    }

    var phrase: String {
        switch self {
        case .pairing: "by keys that you exchanged in person"
        case .file: "by keys from a file"
        }
    }
}

/// The stored data of a person, for printing.
struct PersonFacts {
    let person: UserNumber
    /// The name that was given when pairing, which no server changes.
    let pairedName: String?
    /// From the log, or from a circle.
    let known: Person?
    /// From the service's last answer.
    let profile: Profile?
    /// The format of the stored photo; nil without one.
    let photo: ImageFormat?
    let encounters: [Encounter]
    /// The last day on which the person's rolling beacon is recognised.
    let friendUntil: RollingDay?

    /// How the friend's keys came; nil for who is no friend.
    private var origin: KeyOrigin? { friendUntil == nil ? nil : KeyOrigin(pairedName: pairedName) }

    private var name: String? { pairedName ?? profile?.name ?? known?.name }
    private var batch: String? { profile.map(\.batchLabel).flatMap { $0.isEmpty ? nil : $0 } ?? known?.batch }
    private var duration: Double { encounters.map(\.duration).reduce(0, +) }
    private var last: Double? { encounters.map(\.lastSeen).max() }
    private var nearest: Encounter? {
        encounters.min { ($0.estimatedDistance ?? .infinity) < ($1.estimatedDistance ?? .infinity) }
    }
    private var strongest: Double? { encounters.compactMap(\.strongest).max() }
    /// How sure it is who the person was in the last encounter. Earlier versions logged keys from a file as those of a pairing.
    private var trust: Trust? {
        let logged = encounters.max { $0.lastSeen < $1.lastSeen }?.trust
        return logged == .paired && origin == .file ? .file : logged
    }
    /// Until when the person's beacon is recognised, and by which keys; empty for who is no friend.
    private var friendship: String {
        guard let friendUntil, let origin else { return "" }
        return "\(friendUntil.date), \(origin.phrase)"
    }
    /// Who verified the person in the last encounter; empty when that is unknown.
    private var verified: String {
        switch trust {
        case nil: ""
        case .unverified: "no; any device can send this number"
        case .circle: "by a circle, whose members could imitate each other"
        case .file: KeyOrigin.file.phrase
        // Of keys that have expired it is not known whether they came from a file.
        case .paired: origin == .pairing ? KeyOrigin.pairing.phrase : "by keys that you exchanged"
        }
    }

    var lines: [String] {
        let picture = photo.map { "\($0.rawValue); see --photo" } ?? ""
        let met = encounters.isEmpty ? "none" : "\(encounters.count), \(Span.text(duration)) in all"
        // The keys of a friend are told with their end.
        let verification = origin?.phrase == verified ? "" : verified
        let rows: [[String]] = [
            ["Number", person.description], ["Name", name ?? ""], ["Batch", batch ?? ""],
            ["Email", profile?.email ?? ""], ["GitHub", profile?.github ?? ""], ["Page", known?.page ?? ""],
            ["Photo", picture], ["Encounters", met],
            ["Verified", verification], ["Last seen", last.map { Moment.text($0) } ?? ""],
            ["Closest", nearest?.nearness ?? ""], ["Strongest", strongest.map(Span.decibels) ?? ""],
            ["Friend until", friendship],
        ]
        return Table.lines(rows.filter { !$0[1].isEmpty })
    }

    var json: JSONText {
        let who: [(String, JSONText)] = [
            ("person", .integer(Int64(person.value))), ("name", .optional(name)), ("batch", .optional(batch)),
            ("email", .optional(profile?.email)), ("github", .optional(profile?.github)),
            ("page", .optional(known?.page)), ("photo", .optional(photo?.mediaType)),
        ]
        let closest: JSONText = encounters.compactMap(\.closest).min().map { .decimal($0) } ?? .null
        let met: [(String, JSONText)] = [
            ("encounters", .integer(Int64(encounters.count))), ("duration_seconds", .seconds(duration)),
            ("last_seen", .seconds(last)), ("closest_metres", closest),
            ("strongest_dbm", strongest.map { .decimal($0.rounded()) } ?? .null),
            ("trust", .optional(trust?.word)), ("friend_until", .optional(friendUntil?.date)),
            ("friend_by", .optional(origin?.rawValue)),
        ]
        return .object(who + met)
    }
}

extension RollingDay {
    /// The day as in `2026-11-22`, in UTC as the keys have it.
    fileprivate var date: String {
        var time = time_t(number) * 86_400
        var parts = tm()
        gmtime_r(&time, &parts)
        return String(
            format: "%04d-%02d-%02d", Int(parts.tm_year) + 1900, Int(parts.tm_mon) + 1, Int(parts.tm_mday))
    }
}
#endif
