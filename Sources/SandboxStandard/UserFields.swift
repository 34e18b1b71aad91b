#if Sandbox
/// Parts of the pages on which a user decides about another device.
enum UserFields {
    /// The fields for an email address and a password.
    static let credentials = """
        <div class="field"><label for="email">E-mail address</label>
        <input id="email" name="email" type="email" value="{{name}}" autocomplete="username" required></div>
        <div class="field"><label for="password">Password</label>
        <input id="password" name="password" type="password" autocomplete="current-password" required\
        {{#problem}} aria-invalid="true" aria-describedby="problem"{{/problem}}></div>
        """

    /// The users who can sign in, with their passwords.
    static let users = """
        <section class="hint" aria-labelledby="people"><h2 id="people">Users of this sandbox</h2>
        <ul class="people">{{#people}}<li><strong>{{name}}</strong>
        <span>{{displayName}}, {{note}}</span>
        <span>password <code>{{password}}</code></span></li>{{/people}}</ul>
        </section>
        """
}
#endif
