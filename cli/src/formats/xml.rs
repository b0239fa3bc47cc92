//! XML as a stream of elements with their lines.

use std::io::BufRead;

use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

/// An element.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Element {
    /// Its name, without the prefix of a namespace.
    pub name: String,
    /// Name and value of each attribute.
    pub attributes: Vec<(String, String)>,
    /// The line of its start, from 1.
    pub line: u64,
    /// The text directly in it.
    pub text: String,
    /// The elements directly in it.
    pub children: Vec<Element>,
}

/// Elements may be nested this deep.
const MOST_DEPTH: usize = 100;

impl Element {
    /// The value of an attribute.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| &**value)
    }

    /// The children with this name.
    pub fn all<'e>(&'e self, name: &'e str) -> impl Iterator<Item = &'e Element> {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// The first child with this name.
    pub fn first(&self, name: &str) -> Option<&Element> {
        self.children.iter().find(|child| child.name == name)
    }
}

/// What is done with the elements of a stream.
pub trait Visitor {
    /// An element begins; it has no text and no children yet. Returns whether it is to be passed to
    /// [`whole`](Self::whole) with its contents, which are not visited then.
    ///
    /// # Errors
    /// Why the file is refused.
    fn begins(&mut self, element: &Element) -> Result<bool, String>;

    /// An element with its contents.
    ///
    /// # Errors
    /// Why the file is refused.
    fn whole(&mut self, element: Element) -> Result<(), String>;

    /// Whether the rest of the file does not matter.
    fn is_done(&self) -> bool {
        false
    }
}

/// Reads a document as a stream, in memory for the elements that the visitor wants whole.
///
/// # Errors
/// The line and what is wrong there.
pub fn visit(input: impl BufRead, visitor: &mut impl Visitor) -> Result<(), String> {
    let mut reader = Reader::from_reader(input);
    let mut buffer = Vec::new();
    let (mut line, mut depth) = (1, 0_usize);
    // Elements that have begun, from the one that is wanted whole.
    let mut open: Vec<Element> = Vec::new();
    let mut has_root = false;
    loop {
        buffer.clear();
        let event = reader.read_event_into(&mut buffer).map_err(|error| format!("line {line}: {error}"))?;
        let at = |what: String| format!("line {line}: {what}");
        match &event {
            Event::Eof if depth > 0 => return Err(at("the file ends within an element".to_owned())),
            Event::Eof if !has_root => return Err(at("the file has no element".to_owned())),
            Event::Eof => return Ok(()),
            Event::Start(tag) | Event::Empty(tag) => {
                has_root = true;
                let element = element(tag, line).map_err(at)?;
                let is_whole = open.is_empty() && visitor.begins(&element).map_err(at)?;
                let is_empty = matches!(event, Event::Empty(_));
                if !is_empty {
                    depth += 1;
                }
                if depth > MOST_DEPTH {
                    return Err(at(format!("elements are nested more than {MOST_DEPTH} deep")));
                }
                match (open.last_mut(), is_empty) {
                    (Some(parent), true) => parent.children.push(element),
                    (None, true) if is_whole => visitor.whole(element).map_err(at)?,
                    (None, _) if !is_whole => {}
                    _ => open.push(element),
                }
            }
            Event::End(_) => {
                depth -= 1;
                if let Some(element) = open.pop() {
                    match open.last_mut() {
                        Some(parent) => parent.children.push(element),
                        None => visitor.whole(element).map_err(at)?,
                    }
                }
            }
            Event::Text(text) => {
                if let Some(parent) = open.last_mut() {
                    parent.text += &text.decode().map_err(|error| at(error.to_string()))?;
                }
            }
            Event::CData(text) => {
                if let Some(parent) = open.last_mut() {
                    parent.text += &text.decode().map_err(|error| at(error.to_string()))?;
                }
            }
            Event::GeneralRef(reference) => {
                let name = reference.decode().map_err(|error| at(error.to_string()))?;
                let character = reference.resolve_char_ref().map_err(|error| at(error.to_string()))?;
                let text = character
                    .map(String::from)
                    .or_else(|| resolve_predefined_entity(&name).map(str::to_owned));
                let text = text.ok_or_else(|| at(format!("the entity `&{name};` is unknown")))?;
                if let Some(parent) = open.last_mut() {
                    parent.text += &text;
                }
            }
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
        if visitor.is_done() {
            return Ok(());
        }
        line += event.iter().filter(|byte| **byte == b'\n').count() as u64;
    }
}

fn element(tag: &BytesStart<'_>, line: u64) -> Result<Element, String> {
    let name = |bytes: &[u8]| -> Result<String, String> {
        String::from_utf8(bytes.to_vec()).map_err(|error| error.to_string())
    };
    let mut element = Element { name: name(tag.local_name().as_ref())?, line, ..Element::default() };
    for attribute in tag.attributes() {
        let attribute = attribute.map_err(|error| error.to_string())?;
        let value = attribute.normalized_value(XmlVersion::Implicit1_0).map_err(|error| error.to_string())?;
        element.attributes.push((name(attribute.key.as_ref())?, value.into_owned()));
    }
    Ok(element)
}

/// Reads a whole document.
///
/// # Errors
/// As [`visit`].
pub fn tree(text: &str) -> Result<Element, String> {
    struct Root(Option<Element>);
    impl Visitor for Root {
        fn begins(&mut self, _: &Element) -> Result<bool, String> {
            Ok(true)
        }

        fn whole(&mut self, element: Element) -> Result<(), String> {
            match self.0.replace(element) {
                None => Ok(()),
                Some(_) => Err("a second element follows the first".to_owned()),
            }
        }
    }
    let mut root = Root(None);
    visit(text.as_bytes(), &mut root)?;
    root.0.ok_or_else(|| "the file has no element".to_owned())
}

/// A text without a byte-order mark: in UTF-8 or, if it is XML that says so, in ISO-8859-1.
/// `None` if the bytes are neither.
pub fn decoded(bytes: &[u8]) -> Option<String> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Some(text.strip_prefix('\u{feff}').unwrap_or(text).to_owned());
    }
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]).to_ascii_lowercase();
    let is_latin = head.trim_start().starts_with("<?xml")
        && head.split_once("?>").is_some_and(|(head, _)| head.contains("iso-8859-1"));
    is_latin.then(|| bytes.iter().map(|byte| char::from(*byte)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_have_their_lines_texts_and_attributes() {
        let text = "<?xml version=\"1.0\"?>\n<!-- two\nlines -->\n<a x='1'\n y='&lt;2&gt;'>\n <n:b>p &amp; q&#x21;</n:b>\n <b/>\n</a>";
        let root = tree(text).unwrap();
        assert_eq!((&*root.name, root.line), ("a", 4));
        assert_eq!((root.attribute("x"), root.attribute("y")), (Some("1"), Some("<2>")));
        let below: Vec<_> = root.all("b").map(|b| (b.line, &*b.text)).collect();
        assert_eq!(below, [(6, "p & q!"), (7, "")]);
    }

    #[test]
    fn broken_documents_are_refused_with_a_line() {
        for (text, words) in [
            ("", "no element"),
            ("<a>\n<b></a>", "line 2"),
            ("<a>\n", "line 2: the file ends within"),
            ("<a/><b/>", "second element"),
            ("<a>&none;</a>", "`&none;` is unknown"),
            (&"<a>".repeat(1000), "more than 100 deep"),
        ] {
            let error = tree(text).unwrap_err();
            assert!(error.contains(words), "{text:.20}: {error}");
        }
        assert_eq!(
            decoded(b"<?xml version='1.0' encoding='ISO-8859-1'?><a>\xe9</a>").unwrap().chars().rev().nth(4),
            Some('é')
        );
        assert_eq!(decoded(b"<a>\xe9</a>"), None);
    }
}
