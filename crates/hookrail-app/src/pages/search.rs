//! Finds pages by what a user remembers of them.

use hookrail::sources::nearest;

use super::{PAGES, Page};

/// Returns the pages that the words mean, those of the closest meaning only: the path of a page, the last part of a path, whole words
/// of its title or its path, or the beginnings of such words.
pub fn find_pages(words: &[String]) -> Vec<&'static Page> {
    let topic = words.join("/").to_lowercase();
    let topic = topic.trim_end_matches(".md").trim_start_matches("docs/");
    let words: Vec<String> = words.iter().flat_map(|word| words_of(word)).collect();
    let is_meant: [&dyn Fn(&Page) -> bool; 4] = [
        &|page| page.topic.to_lowercase() == topic,
        &|page| last_part(page.topic) == topic,
        &|page| words.iter().all(|word| words_of_page(page).any(|known| known == *word)),
        &|page| words.iter().all(|word| words_of_page(page).any(|known| known.starts_with(word.as_str()))),
    ];
    let pages_of = |is_meant: &&dyn Fn(&Page) -> bool| PAGES.iter().filter(|page| is_meant(page)).collect();
    is_meant.iter().map(pages_of).find(|pages: &Vec<_>| !pages.is_empty()).unwrap_or_default()
}

/// Returns the word of a page that is most like a word that no page has.
pub fn similar_word(words: &[String]) -> Option<String> {
    let known: Vec<String> = PAGES.iter().flat_map(words_of_page).collect();
    let is_unknown = |word: &String| !known.iter().any(|known| known.starts_with(word.as_str()));
    let unknown = words.iter().flat_map(|word| words_of(word)).find(is_unknown)?;
    nearest(&unknown, known.iter().map(String::as_str)).map(str::to_owned)
}

/// The last part of a path; the folder, for the first page of a folder.
fn last_part(topic: &str) -> String {
    let topic = topic.strip_suffix("/README").unwrap_or(topic);
    topic.rsplit('/').next().unwrap_or(topic).to_lowercase()
}

fn words_of_page(page: &Page) -> impl Iterator<Item = String> + use<'_> {
    words_of(page.title).chain(words_of(page.topic))
}

fn words_of(text: &str) -> impl Iterator<Item = String> + use<'_> {
    text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::{find_pages, similar_word};
    use crate::pages::PAGES;

    fn found(words: &str) -> Vec<&'static str> {
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        find_pages(&words).into_iter().map(|page| page.topic).collect()
    }

    #[test]
    fn every_page_is_found_by_its_path_and_by_the_words_of_its_title() {
        for page in PAGES {
            assert_eq!(found(page.topic), [page.topic]);
            assert!(found(page.title).contains(&page.topic), "{}", page.title);
            for word in page.title.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty())
            {
                assert!(!found(word).is_empty(), "{word}");
            }
        }
    }

    #[test]
    fn the_closest_meaning_counts() {
        assert_eq!(found("claude"), ["agents/claude"]);
        assert_eq!(found("Claude"), ["agents/claude"]);
        assert_eq!(found("agents"), ["agents/README"]);
        assert_eq!(found("docs/agents/claude.md"), ["agents/claude"]);
        assert_eq!(found("trust"), ["explanation/trust"]);
        assert!(found("hook").len() > 1);
        assert_eq!(found("no-such-page"), [""; 0]);
        assert_eq!(similar_word(&["cluade".to_owned()]).as_deref(), Some("claude"));
        assert_eq!(similar_word(&["claude".to_owned()]), None);
    }
}
