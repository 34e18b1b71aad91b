/// The rules of the parameter `prompt` (OpenID Connect Core, section 3.1.2.1).
enum Prompt {
    /// Refuses `none` beside another word: the service cannot both show a page and show none.
    ///
    /// - Throws: ``OAuthError/configuration(member:problem:)``.
    static func check(_ prompt: String?) throws(OAuthError) {
        guard let prompt else { return }
        let words = prompt.split(separator: " ")
        guard words.count == 1 || !words.contains("none") else {
            throw .configuration(
                member: "prompt",
                problem:
                    "none means that no page is shown, so no other word can stand beside it; remove none or the others")
        }
    }
}
