//! Reads which modules a source file names, and what it calls unsafe. It knows as much of the language as that takes: comments,
//! literals, `use` trees, paths from `crate` and `super`, modules in place, and what is compiled for tests only.

pub(crate) struct Token {
    pub(crate) line: usize,
    /// A word, or one character that is none.
    pub(crate) text: String,
}

/// What the compiler reads: without comments, strings and characters.
pub(crate) fn tokens(source: &str) -> Vec<Token> {
    let chars: Vec<char> = source.chars().collect();
    let at = |i: usize| chars.get(i).copied().unwrap_or('\n');
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let skip_past = |mut i: usize, end: &str, escapes: bool| {
        let end: Vec<char> = end.chars().collect();
        while i < chars.len() && !chars[i..].starts_with(&end) {
            i += if escapes && chars[i] == '\\' { 2 } else { 1 };
        }
        i + end.len()
    };
    let (mut tokens, mut i) = (Vec::new(), 0);
    let (mut line, mut counted) = (1, 0);
    while i < chars.len() {
        line += chars[counted..i].iter().filter(|c| **c == '\n').count();
        counted = i;
        let push = |tokens: &mut Vec<Token>, text: String| tokens.push(Token { line, text });
        match chars[i] {
            '/' if at(i + 1) == '/' => i = skip_past(i, "\n", false),
            '/' if at(i + 1) == '*' => {
                let mut depth = 0;
                loop {
                    match (at(i), at(i + 1)) {
                        ('/', '*') => (depth, i) = (depth + 1, i + 2),
                        ('*', '/') => (depth, i) = (depth - 1, i + 2),
                        _ => i += 1,
                    }
                    if depth == 0 || i >= chars.len() {
                        break;
                    }
                }
            }
            '"' => i = skip_past(i + 1, "\"", true),
            '\'' if at(i + 1) == '\\' || at(i + 2) == '\'' => i = skip_past(i + 1, "'", true),
            c if is_word(c) => {
                let word: String = chars[i..].iter().take_while(|c| is_word(**c)).collect();
                i += word.chars().count();
                let hashes = chars[i..].iter().take_while(|c| **c == '#').count();
                if ["r", "br", "cr"].contains(&&*word) && at(i + hashes) == '"' {
                    i = skip_past(i + hashes + 1, &format!("\"{}", "#".repeat(hashes)), false);
                } else {
                    push(&mut tokens, word);
                }
            }
            c => {
                if !c.is_whitespace() {
                    push(&mut tokens, c.into());
                }
                i += 1;
            }
        }
    }
    tokens
}

/// What one file says about modules, but for its tests.
#[derive(Default)]
pub(crate) struct Part {
    /// Paths from the root that are named, `crate` and `super` resolved, with their lines.
    pub(crate) imports: Vec<(usize, Vec<String>)>,
    /// What the root exports, with the module that it comes from.
    pub(crate) exports: Vec<(String, String)>,
    /// Modules in files of their own that are compiled for tests only.
    pub(crate) test_modules: Vec<Vec<String>>,
}

impl Part {
    pub(crate) fn of(module: &[String], text: &str) -> Part {
        let tokens = tokens(text);
        let is = |i: usize, words: &[&str]| {
            words.iter().enumerate().all(|(k, word)| tokens.get(i + k).is_some_and(|token| token.text == *word))
        };
        let mut part = Part::default();
        let mut module = module.to_vec();
        let (mut depth, mut inline) = (0, Vec::new());
        let mut i = 0;
        while i < tokens.len() {
            if is_for_tests(&tokens, i) {
                let end = end_of_item(&tokens, i);
                if let [.., word, name, semicolon] = &tokens[i..end] {
                    if word.text == "mod" && semicolon.text == ";" {
                        part.test_modules.push([&module[..], std::slice::from_ref(&name.text)].concat());
                    }
                }
                i = end;
            } else if is(i, &["mod"]) && is(i + 2, &["{"]) {
                inline.push(depth);
                module.push(tokens[i + 1].text.clone());
                i += 2;
            } else if module.is_empty() && is(i, &["pub", "use"]) {
                let mut paths = Vec::new();
                i = paths_of(&tokens, i + 2, &[], &mut paths);
                let named = paths.into_iter().map(|(_, path)| (path.last().unwrap().clone(), path[0].clone()));
                part.exports.extend(named);
            } else if is(i + 1, &[":", ":"]) && (is(i, &["crate"]) || is(i, &["super"])) {
                let mut paths = Vec::new();
                i = paths_of(&tokens, i, &[], &mut paths);
                part.imports.extend(paths.into_iter().map(|(line, path)| (line, resolved(&module, path))));
            } else {
                if is(i, &["{"]) {
                    depth += 1;
                } else if is(i, &["}"]) {
                    depth -= 1;
                    if inline.last() == Some(&depth) {
                        inline.pop();
                        module.pop();
                    }
                }
                i += 1;
            }
        }
        part
    }
}

/// Whether the attribute of an item starts at `i` that is compiled for tests only.
fn is_for_tests(tokens: &[Token], i: usize) -> bool {
    let is = |words: &[&str]| {
        words.iter().enumerate().all(|(k, word)| tokens.get(i + k).is_some_and(|token| token.text == *word))
    };
    is(&["#", "[", "cfg", "(", "test", ")"]) || is(&["#", "[", "cfg", "(", "all", "(", "test"])
}

/// How often a file says `unsafe`, but for its tests, and of what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unsafe {
    pub(crate) blocks: usize,
    pub(crate) impls: usize,
    pub(crate) functions: usize,
}

impl Unsafe {
    pub(crate) fn of(text: &str) -> Unsafe {
        let tokens = tokens(text);
        let text = |i: usize| tokens.get(i).map_or("", |token| &*token.text);
        let (mut count, mut i) = (Unsafe::default(), 0);
        while i < tokens.len() {
            if is_for_tests(&tokens, i) {
                i = end_of_item(&tokens, i);
                continue;
            }
            if text(i) == "unsafe" {
                match (text(i + 1), text(i + 2), text(i + 3)) {
                    ("{", ..) => count.blocks += 1,
                    ("impl", ..) => count.impls += 1,
                    // A type of functions: who calls one of that type says so again.
                    ("fn", "(", _) | ("extern", "fn", "(") => {}
                    _ => count.functions += 1,
                }
            }
            i += 1;
        }
        count
    }
}

/// Where the item ends that the attribute at `i` belongs to: behind its block, or behind its semicolon.
fn end_of_item(tokens: &[Token], mut i: usize) -> usize {
    let mut depth = 0;
    let mut is_use = false;
    while i < tokens.len() {
        match &*tokens[i].text {
            "use" if depth == 0 => is_use = true,
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth -= 1,
            _ => {}
        }
        i += 1;
        let text = &*tokens[i - 1].text;
        if depth < 0 {
            return i - 1;
        }
        if depth == 0 && (text == ";" || text == "}" && !is_use) {
            return i;
        }
    }
    i
}

/// The paths of the tree that starts at `i`, and where it ends.
fn paths_of(tokens: &[Token], mut i: usize, prefix: &[String], paths: &mut Vec<(usize, Vec<String>)>) -> usize {
    let text = |i: usize| tokens.get(i).map_or("", |token| &*token.text);
    let mut path = prefix.to_vec();
    loop {
        if text(i) == "{" {
            i += 1;
            while !["}", ""].contains(&text(i)) {
                i = match text(i) {
                    "," => i + 1,
                    // The new name stands for the last path.
                    "as" => i + 2,
                    _ => paths_of(tokens, i, &path, paths),
                };
            }
            return i + 1;
        }
        let Some(token) = tokens.get(i) else { return i };
        path.push(token.text.clone());
        i += 1;
        if text(i) != ":" || text(i + 1) != ":" || text(i + 2) == "<" {
            paths.push((token.line, path));
            return i;
        }
        i += 2;
    }
}

/// A path from the root, without what names a whole module.
fn resolved(module: &[String], path: Vec<String>) -> Vec<String> {
    let mut from = module.to_vec();
    for segment in path {
        match &*segment {
            "crate" => from.clear(),
            "super" => drop(from.pop()),
            "self" | "*" => {}
            _ => from.push(segment),
        }
    }
    from
}
