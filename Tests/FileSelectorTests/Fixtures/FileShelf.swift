import OAuth
import Sequencing

/// Files for selectors, as the service lists them.
enum FileShelf {
    static func file(
        _ id: Int, _ category: String, name: String? = nil, persona: String? = nil, line: String? = nil,
        sex: String? = nil,
        added: String? = nil, population: String? = nil
    ) -> GeneticFile? {
        var members: JSONObject = [
            "Id": .string("\(id)"), "Name": .string(name ?? "file\(id).vcf"), "FileCategory": .string(category),
            "FileType": .string("VCF"),
        ]
        for (key, value) in [
            ("FriendlyDesc1", persona), ("FriendlyDesc2", line), ("Sex", sex), ("DateAdded", added),
            ("Population", population),
        ] { members[key] = value.map { .string($0) } }
        return try? GeneticFile(.object(members))
    }

    static let own = [
        file(1, "Uploaded", name: "file10.vcf", added: "2017-01-20T18:02:11"),
        file(2, "Uploaded", name: "File9.vcf", added: "2017-03-01T00:00:00"), file(3, "SharedToMe"),
        file(4, "FromApps"),
        file(5, "AllWithAltruist"), file(6, "Martian"), file(7, "Uploaded", name: "file10.vcf"),
    ].compactMap(\.self)
    static let samples = [
        file(11, "Community", persona: "Ada", line: "Walks", sex: "Female", population: "European"),
        file(12, "Community", persona: "Ramón", line: "café <b>owner</b>", sex: "Male"),
        file(13, "Community", persona: "Robin", line: nil, sex: nil),
        file(14, "Community", line: "Nameless", sex: "Unspecified"),
    ].compactMap(\.self)
}
