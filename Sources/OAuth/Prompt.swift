/// The rules of the parameter `prompt` (OpenID Connect Core, section 3.1.2.1).
enum Prompt {
    /// Refuses `none` beside another value: the service cannot both show a page and show none.
    ///
    /// - Throws: ``OAuthError/configuration(member:problem:)``.
    static func check(_ prompt: String?) throws(OAuthError) {
        guard let prompt else { return }
        let words = prompt.split(separator: " ")
        guard words.count == 1 || !words.contains("none") else {
            throw .configuration(
                member: "prompt",
                problem:
                    "“none” shows no page, so it cannot be combined with other values; remove it or the others")
        }
    }
}
