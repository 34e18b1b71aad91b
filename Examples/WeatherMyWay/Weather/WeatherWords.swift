/// The texts that the web page and the app have in common. The page's script gets them by the names of their cases.
enum WeatherWords: String, Sendable, CaseIterable {
    case title = "The weather, read with your genes"
    case introduction = """
        Seven days of forecast, each with advice about the sun and vitamin D that fits what app chains find in your genetic \
        data. No data of your own? Try it with a sample.
        """
    case signIn = "Sign in with Sequencing.com"
    case expired = "Your sign-in has expired."
    case signInAgain = "Sign in again"
    case register = "Create an account or reset the password"
    case whichFile = "Which file is the advice for?"
    case chooseFile = "Choose a file"
    case changeFile = "Change the file"
    case asking = "Two app chains look into the file…"
    case lacksData = "This file lacks the data that the advice needs. Choose another file."
    case importData = "Import from 23andMe or Ancestry"
    case copyFile = "Copy a file from the web"
    case tooManyCopies = "Too many files were copied within a short time. Try again in five minutes."
    case copyUnconfirmed = """
        Sequencing.com has not confirmed the request. The file may still be copied: look for it in the account before you ask \
        again.
        """
    case importNote = """
        Sequencing.com needs your login and password there. They are passed on and not stored. Downloading the data yourself \
        and uploading it on the site needs no password.
        """
    /// The question follows.
    case question = "23andMe asks:"
    case pasteLink = "Paste the link from Ancestry's email"
    case importLate = """
        The file is not in your list yet. Look again later. If it will not come, give up waiting under “Import from 23andMe or \
        Ancestry”.
        """
    /// The names of files follow.
    case newFile = "New in your list:"
    /// The names of files follow.
    case oneOfFiles = "Several imports ran. One of these files is yours:"
    case unfinished = "Imports whose files have not come"
    case giveUp = "Give up waiting"
    case giveUpNote = """
        An import can take a while, and may still be running although no answer came. While one waits for its file, other imports \
        from the same source wait too, for a day at most. If you no longer expect the file, give up waiting. This does not stop the \
        import at Sequencing.com: its file may still appear in your list, and may be mistaken for another import's.
        """
}
