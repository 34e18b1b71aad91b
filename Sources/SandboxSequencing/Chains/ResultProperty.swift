#if Sandbox
import SandboxCore

/// One named property of a finished job (Sequencing dossier, section 5.2).
struct ResultProperty: Sendable {
    let name: String
    let type: String
    /// Text for all types; for `Pdf` and `DataFile` the digits of a report file's id.
    let value: String?
    var title: String?
    var subTitle: String?
    var description: String?
    var subType: String?

    init(_ name: String, _ type: String, _ value: String?) {
        self.name = name
        self.type = type
        self.value = value
    }

    static func text(_ name: String, _ value: String) -> ResultProperty {
        ResultProperty(name, "PlainText", value)
    }

    var json: JSON {
        [
            "Name": .string(name), "Title": JSON(title), "SubTitle": JSON(subTitle),
            "Description": JSON(description), "Type": .string(type), "SubType": JSON(subType), "Value": JSON(value),
        ]
    }
}
#endif
