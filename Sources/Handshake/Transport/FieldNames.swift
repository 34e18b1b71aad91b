package import HTTPTypes

extension HTTPField.Name {
    /// A name that is a constant of the code; one that is not valid is a mistake that the first test finds.
    package init(constant: StaticString) {
        guard let name = HTTPField.Name("\(constant)") else { preconditionFailure("\(constant) is not a field name") }
        self = name
    }
}
