import Handshake
import OAuth

/// Profiles in a folder: `759.json` for the person with this identifier.
struct ProfileStore: Sendable {
    /// A profile and the time it was fetched.
    struct Record: Sendable {
        let profile: Profile
        let fetchedAt: Double
    }

    private let folder: CacheFolder<RecurseCenterError>

    private static let ending = ".json"
    private static let longestFile = 1 << 20

    init(folder: CacheFolder<RecurseCenterError>) {
        self.folder = folder
    }

    /// Reads at most `capacity` profiles. Other files are ignored and kept.
    func records(capacity: Int) throws(RecurseCenterError) -> [PersonID: Record] {
        var records: [PersonID: Record] = [:]
        for name in try folder.names() {
            guard records.count < capacity, let id = Self.id(of: name), let record = record(id) else { continue }
            records[id] = record
        }
        return records
    }

    func write(_ record: Record, of id: PersonID) throws(RecurseCenterError) {
        let value = JSONValue.object([
            "version": .number("1"), "fetched_at": .number("\(record.fetchedAt)"),
            "profile": .object(record.profile.members),
        ])
        try folder.write(Array(value.json.utf8), to: Self.name(of: id))
    }

    func remove(_ id: PersonID) throws(RecurseCenterError) {
        try folder.remove(Self.name(of: id))
    }

    private func record(_ id: PersonID) -> Record? {
        guard let bytes = folder.contents(Self.name(of: id), limit: Self.longestFile),
            let members = (try? JSONValue(parsing: bytes))?.object, members["version"]?.integer == 1,
            case .number(let spelling)? = members["fetched_at"], let fetchedAt = Double(spelling), fetchedAt.isFinite,
            let value = members["profile"], let profile = try? Profile(value), profile.id == id
        else { return nil }
        return Record(profile: profile, fetchedAt: fetchedAt)
    }

    private static func name(of id: PersonID) -> String {
        "\(id)\(ending)"
    }

    private static func id(of name: String) -> PersonID? {
        guard name.hasSuffix(ending), let id = Int64(name.dropLast(ending.count)).flatMap({ PersonID($0) }),
            self.name(of: id) == name
        else { return nil }
        return id
    }
}
