#if Sandbox
import SandboxCore

/// One genetic file of the stand-in, and what app chains find in it (Sequencing dossier, sections 4.1 and 9.3).
struct GeneticFile: Sendable {
    /// Where a file comes from, in the words of `FileCategory`.
    enum Category: String, Sendable, CaseIterable {
        case community = "Community"
        case uploaded = "Uploaded"
        case sharedToMe = "SharedToMe"
        case fromApps = "FromApps"
        case allWithAltruist = "AllWithAltruist"
        /// A word that the dossier does not have, as a later version of the service might say.
        case laboratory = "FromLaboratory"
    }

    /// How much of what the app chains look for is in the file.
    enum Coverage: Sendable {
        /// Everything.
        case full
        /// Too little: chains answer `NoData` or `Insufficient Data`.
        case sparse
        /// The wrong kind of file: chains complete without success (Sequencing dossier, section 5.12).
        case unsupported
    }

    /// The seven melanoma levels of Chain9, in the order of section 5.8.
    enum Risk: String, Sendable, CaseIterable {
        case low = "Low"
        case normal = "Normal"
        case slightlyIncreased = "SlightlyIncreased"
        case moderate = "Moderate"
        case high = "High"
        case veryHigh = "VeryHigh"
        case noData = "NoData"
    }

    /// What the service knows about the person that the file is of.
    struct Persona: Sendable {
        var name: String?
        var description: String?
        var population: String?
        var sex: String?
    }

    /// Decimal digits on the wire.
    let id: Int
    let name: String
    let category: Category
    let dateAdded: String
    var type = "VCF"
    var subType: String?
    var persona = Persona()
    var coverage = Coverage.full
    var risk = Risk.normal
    var hasVitaminDIssue = false

    /// The id at `data.sequencing.com`, where ids are GUIDs: the decimal digits of the id as its last group.
    var guid: String {
        let digits = String(id)
        return "00000000-0000-4000-8000-" + String(repeating: "0", count: max(0, 12 - digits.count)) + digits
    }

    /// Everything from the first dot of the last two extensions on, such as `.vcf.gz`.
    var ext: String {
        let parts = name.split(separator: ".").dropFirst()
        let kept = parts.last == "gz" ? parts.suffix(2) : parts.suffix(1)
        return kept.map { "." + $0 }.joined()
    }

    /// The element of `DataSourceList`.
    var json: JSON {
        [
            "Id": .string(String(id)), "Name": .string(name), "DateAdded": .string(dateAdded), "Ext": .string(ext),
            "FileCategory": .string(category.rawValue), "FileType": .string(type), "FileSubType": JSON(subType),
            "FriendlyDesc1": JSON(persona.name), "FriendlyDesc2": JSON(persona.description),
            "Population": JSON(persona.population), "Sex": JSON(persona.sex),
        ]
    }

    /// The file as it is downloaded: a small VCF that says whose it is, packed when its name ends so.
    var contents: [UInt8] {
        ext.hasSuffix(".gz") ? Gzip.packed(Array(text.utf8)) : Array(text.utf8)
    }

    private var text: String {
        """
        ##fileformat=VCFv4.2
        ##source=sandbox, made up
        ##id=\(id)
        #CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO
        1\t\(id)\t.\tA\tG\t50\tPASS\t.

        """
    }
}
#endif
