#if Sandbox
/// The colours of a service's pages, as custom properties of CSS. What is not stated has the colour of ``Stylesheet``.
package struct PageColors: Sendable {
    private let light: String
    private let dark: String

    /// - Parameters:
    ///   - light: declarations such as `--accent:#24507e`.
    ///   - dark: those of a dark colour scheme.
    package init(light: String, dark: String) {
        self.light = light
        self.dark = dark
    }

    /// The rules, which follow the stylesheet.
    var css: String { "body{\(light)}\n@media (prefers-color-scheme:dark){body{\(dark)}}\n" }
}
#endif
