/** Sentences for the posts and comments of the demo data. `{s}` is replaced by the subject, `{S}` by the capitalized subject. */

/** Titles of posts. */
export const TITLES = [
  'What {s} taught me this spring',
  'A field note on {s}',
  'Three mistakes I made with {s}',
  'The quiet craft of {s}',
  '{S}, explained to my neighbour',
  'Before you start: {s}',
  'Why we still talk about {s}',
  'Saturday workshop: {s}',
  'A beginner’s look at {s}',
  'Notes from the yard: {s}',
  'Ask me about {s}',
  'What the old hands say about {s}',
  '{S}: a checklist',
  'In praise of {s}',
  'Rethinking {s}',
] as const;

/** First paragraphs of posts. */
export const OPENERS = [
  'It rained all week, so we stayed under the roof of the yard and talked about {s}.',
  'A reader asked about {s}, and the answer grew longer than a letter.',
  'I have changed my mind about {s}, and I would like to show you where.',
  'On Tuesday we stood below the old viaduct with a flask of tea and looked closely at {s}.',
  'My first job had a lot to do with {s}, and I understood none of it.',
  'Here is what I wish somebody had told me about {s} ten years ago.',
  'We had visitors from the technical school, and their questions about {s} were better than our answers.',
  'The river was low enough to walk beneath the second span, which is rare, and good for thinking about {s}.',
  'This is a short note on {s}, written on the train home.',
  'Every workshop has a shelf of things that went wrong. Ours has a whole corner for {s}.',
  'My grandmother kept a diary on site, and in March 1961 she wrote two pages about {s}.',
  'After the talk at the library somebody wanted it in writing: {s}, without the formulas.',
  'There are two kinds of books about {s}: those that you finish, and those that are right.',
  'We closed the footbridge for a day, had a proper look, and came back with opinions about {s}.',
  'A colleague from Lisbon sent photographs, and so the coffee break became an hour about {s}.',
  'Nobody takes pictures of it, and still there is a page to be filled about {s}.',
] as const;

/** Sentences that follow the first fact of a post. */
export const ANECDOTES = [
  'We learned that the slow way, with a crane waiting at the kerb and the meter running.',
  'The apprentice saw it first and was too polite to say so; we have talked about that as well.',
  'In the report it became one dry line, but four of us stood there and cheered.',
  'An old man on the bank had told us so in the morning. We bought him lunch.',
  'I drew it on the back of the delivery note, and that note now hangs in a frame.',
  'It cost us a Friday afternoon and taught us more than a conference.',
  'The calculation had said so, too; it just had not said it loudly.',
  'Since then there is a strip of yellow tape at that spot, and no one has asked why.',
  'We tried it three times, and the third time we read the instructions.',
  'The dog of the lock keeper watched all of it and seemed unimpressed.',
  'Somebody laughed, then everybody went quiet, and then we fixed it.',
  'You can still see the pencil mark if you know where to look.',
  'It held. It still holds; I pass it each morning on my bicycle.',
  'The drawing was right and the ground was wrong, as so often.',
] as const;

/** Last paragraphs of posts. */
export const CLOSERS = [
  'How do you do it where you are?',
  'Next week: the same in drawings, with measurements.',
  'If you have a photograph of a better one, send it; I would love to be wrong.',
  'The shop has what you need for it, but borrow first and buy later.',
  'Thank you to the night shift, who let us look over their shoulders.',
  'Bring gloves on Saturday if you want to try it yourself.',
  'Corrections are welcome, as ever, and will be printed larger than the mistake.',
  'That is all. Go and look at a bridge.',
  'I have left out the numbers on purpose; ask, and you shall have them.',
  'More of this when the water has gone down.',
  'Keep your feet dry.',
  'The notebook has eleven pages more, but the tea is cold.',
] as const;

/** First sentences of comments. */
export const REACTIONS = [
  'This is exactly what I needed before Monday.',
  'Thank you for writing it down so plainly.',
  'I read it twice, the second time aloud to the crew.',
  'We had the same thing on a small road bridge last autumn.',
  'I am not sure that I agree, but I will look again.',
  'My father would have nodded all the way through.',
  'Lovely. More of this, please.',
  'This should be on the wall of every site office.',
  'I laughed, and then I went out and checked ours.',
  'Nobody ever explained it to me like this.',
  'Good piece. The last paragraph stays with me.',
  'I have been doing it the other way round for years.',
  'Beautifully put.',
  'A friend sent me here, and I stayed for the whole archive.',
  'I showed it to my students and we lost a happy hour.',
  'It made me go back to my old notes.',
  'Calm, clear and useful: a rare mixture.',
  'I can confirm every word, sadly.',
  'You make it sound easy. It was not, that day.',
  'Here in the north we say the same in fewer words.',
  'This changed what I wrote into tomorrow’s plan.',
  'I would add one thing, out of bitter experience.',
] as const;

/** Second sentences of comments. */
export const REMARKS = [
  'What do you do about it in frost?',
  'With {s}, patience is most of it.',
  'Is there a drawing of it that I could print?',
  'The photograph of the detail says it all.',
  'We write the date on everything now.',
  'Does it work for a span of thirty metres, too?',
  'I would only try it with a second pair of eyes.',
  'Our inspector asked the very same question.',
  'The part about water is true of everything I have ever built.',
  'Next time I am near the river I will stop and look.',
  'I have a spare set, if anybody would like to borrow it.',
  'One never stops learning about {s}.',
  'Please write about the foundations next.',
  'Ours is from 1908 and still has the original ones.',
  'It took us two tries and a lot of tea.',
  'I keep meaning to measure that.',
  'Could you say more about the tolerances?',
  'The old drawings call it something else, but it is the same thing.',
  'That anecdote deserves a page of its own.',
  'I learned about {s} from a carpenter who never finished school, and he was right.',
  'For what it is worth, larch did better than oak for us.',
  'We now do it before breakfast, while it is cool.',
] as const;

/** Comments of the author of the post. */
export const ANSWERS = [
  'Thank you! Measurements follow at the weekend.',
  'Good question. In frost we simply wait.',
  'Yes, up to about forty metres; beyond that I would ask somebody else.',
  'I have put the sketch on the notice board in the yard.',
  'You are right, and I have corrected it above.',
  'Come by on Thursday and I will show you.',
  'That is kind. The credit belongs to the crew.',
  'I wondered about that as well; let us compare notes.',
] as const;
