#if Sandbox
import Crypto

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The stylesheet of all pages, which ``PageColors`` follow, and the hash by which the content security policy lets it in.
enum Stylesheet {
    static let hash = hash(of: text)

    /// The name of a style element in a content security policy (CSP Level 3, section 2.3.1).
    static func hash(of text: String) -> String {
        "sha256-" + Data(SHA256.hash(data: Data(text.utf8))).base64EncodedString()
    }

    static let text = layout + parts + forms

    private static let layout = """
        :root{color-scheme:light dark;--ground:#f5f4f0;--card:#fff;--line:#d8d5cc;--field:#80796b;--ink:#1c2024;\
        --quiet:#53585f;--accent:#24507e;--accent-ink:#fff;--tint:#eef3f8;--bad:#a11b1b;--bad-tint:#fdf0ef}
        @media (prefers-color-scheme:dark){:root{--ground:#15181b;--card:#1e2226;--line:#383e44;--field:#8b939b;\
        --ink:#eceef0;--quiet:#b4bbc2;--accent:#9ec5ee;--accent-ink:#0d1b29;--tint:#222c36;--bad:#ffb4ab;\
        --bad-tint:#3a2221}}
        *{box-sizing:border-box}
        body{margin:0;min-height:100vh;display:flex;flex-direction:column;background:var(--ground);color:var(--ink);\
        font:1rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;overflow-wrap:anywhere}
        header,main,footer{width:100%;max-width:30rem;margin:0 auto;padding:0 1rem}
        .wide header,.wide main,.wide footer{max-width:46rem}
        header{padding-top:clamp(1rem,6vh,3.5rem);padding-bottom:.75rem}
        .brand{margin:0;display:flex;flex-wrap:wrap;gap:.25rem .6rem;align-items:center;font-weight:650}
        .badge{padding:.05rem .5rem;border:1px solid currentColor;border-radius:99rem;color:var(--accent);\
        font-size:.8rem;font-weight:600}
        main{flex:1}
        .card{padding:clamp(1.1rem,5vw,2rem);background:var(--card);border:1px solid var(--line);border-radius:.75rem}
        footer{padding-top:1.25rem;padding-bottom:2rem;color:var(--quiet);font-size:.9rem}
        footer p{margin:0}
        h1{margin:0 0 .5rem;font-size:1.5rem;line-height:1.25;letter-spacing:-.01em;text-wrap:balance}
        h2{margin:1.75rem 0 .5rem;font-size:1rem}
        p{margin:0 0 1rem}
        .quiet{color:var(--quiet)}
        a{color:var(--accent)}
        code{padding:.1rem .3rem;border-radius:.25rem;background:var(--tint);\
        font:.92em/1.4 ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace}
        :focus-visible{outline:3px solid var(--accent);outline-offset:2px}

        """

    private static let parts = """
        pre{overflow:auto;padding:.75rem 1rem;border-radius:.5rem;background:var(--tint);font-size:.9rem}
        .people a[aria-current]{color:inherit;text-decoration:none}
        .elsewhere{margin:.75rem 0 0}
        button.second{margin-top:.6rem}
        table{width:100%;border-collapse:collapse;font-size:.92rem}
        td,th{padding:.45rem .6rem .45rem 0;border-bottom:1px solid var(--line);text-align:left;overflow-wrap:anywhere}
        form{margin:0}
        .field{margin:0 0 1rem}
        label{display:block;margin-bottom:.25rem;font-weight:600}
        .note{margin:.25rem 0 0;color:var(--quiet);font-size:.9rem}
        input[type=email],input[type=password],input[type=text]{width:100%;min-height:2.75rem;padding:.5rem .75rem;\
        border:1px solid var(--field);border-radius:.5rem;background:var(--card);color:inherit;font:inherit}
        input[aria-invalid=true]{border-color:var(--bad);border-width:2px}
        .check{display:flex;gap:.6rem;align-items:center;margin-bottom:1.25rem}
        .check label{margin:0;font-weight:400;padding:.25rem 0}
        .check input{flex:none;width:1.25rem;height:1.25rem;margin:0;accent-color:var(--accent)}
        button{width:100%;min-height:2.75rem;padding:.55rem 1rem;border:1px solid var(--accent);border-radius:.5rem;\
        background:var(--accent);color:var(--accent-ink);font:inherit;font-weight:600;cursor:pointer}
        button:hover{filter:brightness(1.08)}
        button.second{background:transparent;color:var(--accent)}
        button.link{width:auto;min-height:1.75rem;padding:.1rem 0;border:0;background:none;color:var(--accent);\
        font-weight:400;text-decoration:underline}
        .choices{display:grid;gap:.75rem;margin:1.5rem 0 1rem}
        .problem{margin:0 0 1.25rem;padding:.75rem 1rem;border:1px solid var(--bad);border-left-width:.35rem;\
        border-radius:.5rem;background:var(--bad-tint);color:var(--bad)}
        .problem p{margin:0}
        .hint{margin:1.5rem 0 0;padding:1rem;border-radius:.5rem;background:var(--tint)}
        .hint h2{margin:0 0 .25rem}
        .hint .note{margin:0 0 .5rem}
        .hint code{background:var(--card)}
        ul{margin:0;padding:0;list-style:none}
        .people li{padding:.45rem 0}
        .people li+li,.rows li+li{border-top:1px solid var(--line)}
        .people a{display:inline-block;padding:.15rem 0;font-weight:600}
        .people span{display:block;font-size:.9rem}
        .rows li{padding:.6rem 0}
        .rows+p{margin-top:1.25rem}
        .rows p{margin:.2rem 0 0;color:var(--quiet);font-size:.92rem}
        .scopes li{position:relative;padding:.2rem 0 .2rem 1.5rem}
        .scopes li::before{content:"";position:absolute;left:.3rem;top:.75rem;width:.5rem;height:.5rem;\
        border-radius:50%;background:var(--accent)}
        .code{display:block;margin:0 0 1rem;padding:.9rem 1rem;font-size:1.05rem;user-select:all}

        """

    private static let forms = """
        a.button{display:block;min-height:2.75rem;padding:.6rem 1rem;border-radius:.5rem;background:var(--accent);\
        color:var(--accent-ink);font-weight:600;text-align:center;text-decoration:none}
        button:hover,a.button:hover{filter:brightness(1.08)}
        select,textarea{width:100%;min-height:2.75rem;padding:.5rem .75rem;border:1px solid var(--field);\
        border-radius:.5rem;background:var(--card);color:inherit;font:inherit}
        select[aria-invalid=true],textarea[aria-invalid=true]{border-color:var(--bad);border-width:2px}
        fieldset{min-width:0;margin:1rem 0 1.25rem;padding:1rem;border:1px solid var(--line);border-radius:.5rem}
        legend{padding:0 .4rem;font-weight:650}
        .group p{margin:0 0 .25rem;font-weight:600}
        .parts{display:grid;grid-template-columns:repeat(auto-fit,minmax(11rem,1fr));gap:0 1rem}
        .parts .field:last-child{grid-column:1/-1}
        .parts label{font-weight:400}
        .unknown .note{display:block;font-weight:400}
        .fault{margin:-.5rem 0 1rem;color:var(--bad);font-size:.9rem}
        .surface{display:inline-block;margin:0 0 .75rem;padding:.05rem .5rem;border-radius:.25rem;\
        background:var(--tint);font-size:.85rem}
        .band{margin:0 0 1.25rem;padding:1.25rem 1rem;border:1px solid var(--line);border-radius:.5rem;\
        font-size:1.15rem;font-weight:700}
        .ways{margin-top:1.5rem;padding-top:1rem;border-top:1px solid var(--line)}
        .ways summary{padding:.25rem 0;color:var(--quiet);cursor:pointer}

        """
}
#endif
